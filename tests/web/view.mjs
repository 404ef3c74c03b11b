/*
 * view.mjs - `pcol view`: the features and numbers of reports over HTTP, several files, sessions
 *
 * tests/system/view has the rejected requests.
 */
import assert from "node:assert/strict";
import { close, data, endServers, open, rows, serving, settle, tab, test, view, viewRows }
    from "./harness.mjs";
import { shared as sharedFeatures } from "./features.mjs";
import { same } from "./numbers.mjs";

const table = async (page) => {
    await tab(page, "table");
    return (await viewRows(page)).map((r) => [Number(r.Self), r.Name]).sort();
};
const top = (...args) => rows("top", "-q", "-n", "0", ...args).map((r) => [r.self, r.name]).sort();

/* Which files are shown: the first compared with the second, then any. */
async function files() {
    const list = ["rprof/plain.Rprof", "rprof/gc.Rprof", "pprof/cpu.pb.gz"].map(data);
    const page = await open(await view(...list));
    assert.equal(await page.title(), `${list[1]} → ${list[0]}`);
    const found = async () => {
        await tab(page, "table");
        return (await viewRows(page)).map((r) => [r["Base self"], r.Self, r.Name]).sort();
    };
    const wanted = rows("diff", "-q", "-n", "0", list[1], list[0])
        .map((r) => [String(r.self_base), String(r.self_new), r.name]).sort();
    assert.deepEqual(await found(), wanted);
    await page.selectOption("#base", "-");
    await settle(page);
    assert.deepEqual(await table(page), top(list[0]));
    await page.selectOption("#file", "2");
    await settle(page);
    assert.deepEqual(await table(page), top(list[2]));
    assert.match(page.url(), /file=2/);
    await page.reload();
    await page.waitForSelector("html[data-ready]", { state: "attached" });
    assert.deepEqual(await table(page), top(list[2]), "the address has the choice");
    await page.click("#reset");
    await settle(page);
    assert.equal(await page.inputValue("#file"), "2", "reset keeps the files");
    await close(page);
}

/* Two pages of a server have selections of their own. */
async function sessions() {
    const file = data("pprof/cpu.pb.gz"), address = await view(file);
    const one = await open(address), two = await open(address);
    await one.fill("#search", "main\\.fib");
    await one.check("#only");
    await settle(one);
    assert.deepEqual(await table(two), top(file));
    assert.deepEqual(await table(one), top("--focus", "main\\.fib", file).filter((row) =>
        /main\.fib/.test(row[1])));
    await close(one);
    await close(two);
}

async function selected() {
    const page = await open(await view("--focus", "main.fib", data("pprof/cpu.pb.gz")));
    assert.match(await page.textContent("#summary"), /total 490 ms/);
    assert.ok(!await page.isVisible("#download"));
    await close(page);
}

/* The page reports the end of the server. */
async function ended() {
    const address = await view(data("pprof/cpu.pb.gz"));
    const page = await open(address);
    endServers();
    await page.waitForTimeout(200);
    await tab(page, "table");
    assert.match(await page.textContent("#status"), /pcol view does not answer/);
    await page.context().close();
}

export async function views() {
    serving.on = true;
    for (const [name, action] of Object.entries(sharedFeatures)) await test(`view ${name}`, action);
    for (const name of ["pprof/heap.pb.gz", "rprof/gc.Rprof", "firefox/small.json",
        "jfr/small.jfr", "perf/three.txt"])
        await test(`view numbers ${name}`, () => same(data(name)));
    for (const [name, action] of Object.entries({ files, sessions, selected, ended }))
        await test(`view ${name}`, action);
    serving.on = false;
}
