/*
 * hostile.mjs - names that attack the page, and damaged data
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { WORK, close, data, open, report, settle, tab, test, viewRows } from "./harness.mjs";

const PAYLOADS = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>",
    "<svg onload=alert(1)>", "\" onmouseover=\"alert(1)", "' onfocus='alert(1)' autofocus='",
    "javascript:alert(1)", "<!--", "-->", "]]>", "</title><script>alert(1)</script>",
    "</style><style>*{display:none}</style>", "{{constructor.constructor('alert(1)')()}}",
    "@TITLE@", "@DATA@", "__proto__", "constructor", "toString", "hasOwnProperty",
    "\u202egnp.exe", "\u2028alert(1)", "\u0000null", "\ufeffbom", "a".repeat(20000),
    "&lt;b&gt;&amp;", "\\x3cscript\\x3e", "${alert(1)}", "`alert(1)`", "=cmd|' /C calc'!A0",
    "\ud83d\ude00", "x\r\ny", "%3Cscript%3E", "url(http://127.0.0.1:1/x)"];

/* A speedscope profile whose frames, files, threads and name are the payloads. */
function hostileProfile() {
    const frames = PAYLOADS.map((name, i) => ({ name, file: PAYLOADS[(i + 3) % PAYLOADS.length],
        line: i }));
    const profiles = [...PAYLOADS.slice(0, 12), ...PAYLOADS.filter((name) =>
        /[\n\u2000-\u2fff]/.test(name))].map((name, i) => ({ type: "sampled", name,
        unit: "milliseconds", startValue: 0, endValue: PAYLOADS.length,
        samples: PAYLOADS.map((_, k) => [i, k, (k + i) % PAYLOADS.length]),
        weights: PAYLOADS.map(() => 1) }));
    const file = path.join(WORK, "hostile.speedscope.json");
    writeFileSync(file, JSON.stringify({ $schema:
        "https://www.speedscope.app/file-format-schema.json", name: PAYLOADS[1],
    shared: { frames }, profiles }));
    return file;
}

async function names() {
    const page = await open(report("--title", PAYLOADS[9], hostileProfile()));
    page.on("dialog", () => page.problems.push("a name ran as script"));
    assert.equal(await page.title(), PAYLOADS[9]);
    await tab(page, "table");
    const found = new Set((await viewRows(page)).map((r) => r.Name));
    for (const name of PAYLOADS.filter((p) => /^[\x20-\x7e]*$/.test(p)))
        assert.ok(found.has(name), name.slice(0, 80));
    assert.ok(![...found].some((n) => /[\u202e\u2028]/.test(n)), "bidi characters are escaped");
    for (const view of ["flame", "inverted", "stacks", "peek", "table"]) {
        await tab(page, view);
        if (view === "peek") await page.fill("#name", PAYLOADS[0]);
        await settle(page);
        const canvas = await page.locator("#panel canvas, #panel .row").first().boundingBox();
        await page.mouse.move(canvas.x + 50, canvas.y + 30);
        await page.mouse.click(canvas.x + 50, canvas.y + 30);
    }
    const threads = page.locator("#thread option"), count = await threads.count();
    assert.ok(count > 15, `${count} threads`);
    for (let i = 1; i < count; i++) {
        await page.selectOption("#thread", { index: i });
        await settle(page);
        assert.equal(await page.evaluate(() => Number(window.pcolApp.query.total)),
            PAYLOADS.length, await threads.nth(i).textContent());
    }
    await page.selectOption("#thread", { index: 0 });
    await page.fill("#search", "(a+)+$");
    await page.fill("#search", "<img");
    await settle(page);
    assert.equal(await page.evaluate(() => document.querySelectorAll("#app img, #app svg").length),
        0);
    await close(page);
}

/* Rows select what they show: names that begin with a mark, that look escaped, without a function. */
async function selects() {
    const frames = [{ name: "\ufefffoo" }, { name: "foo" }], samples = [[0], [1]], NAMES = ["\ufeffT",
        "T", "a\u0001b", "a\\x01b"];
    const profiles = NAMES.map((name, i) => ({ type: "sampled", name, unit: "none", startValue: 0,
        endValue: 2, samples, weights: [10 ** i, 2 * 10 ** i] }));
    const file = path.join(WORK, "selects.speedscope.json");
    writeFileSync(file, JSON.stringify({ $schema:
        "https://www.speedscope.app/file-format-schema.json", shared: { frames }, profiles }));
    let page = await open(report(file), { hash: "#view=table&by=thread" });
    const totals = [];
    for (let i = 1; i <= NAMES.length; i++) {
        await page.selectOption("#thread", { index: i });
        await settle(page);
        totals.push(await page.evaluate(() => Number(window.pcolApp.query.total)));
    }
    assert.deepEqual(totals.sort((a, b) => a - b), [3, 30, 300, 3000]);
    await close(page);
    for (const hash of ["", "#search=0x7f&only=1"]) {
        page = await open(report(data("perf/calls.txt")), { hash });
        if (!hash) await page.fill("#search", "0x7f");
        if (!hash) await page.check("#only");
        await settle(page);
        const sums = await page.evaluate(() => window.pcolApp.query.selected.toString());
        assert.equal(sums, "4004004");
        await close(page);
    }
    page = await open(report(data("pprof/cpu.pb.gz")), { hash: "#key=kind&value=hash" });
    await settle(page);
    assert.deepEqual((await page.locator("#value option").allTextContents()).sort(), ["all",
        "count", "hash", "order"]);
    await close(page);
}

async function staticNames() {
    const page = await open(report(hostileProfile()), { javaScriptEnabled: false, ready: false });
    assert.match(await page.textContent("#static table"), /<img src=x onerror=alert\(1\)>/);
    assert.equal(await page.locator("#static img, #static script").count(), 0);
    await page.context().close();
}

/* Embedded data that is cut, overwritten or missing: a message and the static part, no hang. */
async function damaged() {
    const html = readFileSync(report(data("pprof/cpu.pb.gz")), "utf8");
    const start = html.indexOf(">", html.indexOf('id="data"')) + 1;
    const end = html.indexOf("<", start);
    const embedded = html.slice(start, end);
    const bytes = Buffer.from(embedded, "base64");
    const flip = (at) => {
        const copy = Buffer.from(bytes);
        copy[at] ^= 0x5a;
        return copy.toString("base64");
    };
    const kinds = [["cut", embedded.slice(0, embedded.length >> 2 << 1)], ["empty", ""],
        ["no base64", "%%%%"], ["zeros", Buffer.alloc(bytes.length).toString("base64")]];
    for (let i = 0; i < 40; i++)
        kinds.push([`byte ${i}`, flip(Math.floor(bytes.length * (i + 0.5) / 40))]);
    let messages = 0;
    for (const [name, text] of kinds) {
        const file = path.join(WORK, "damaged.html");
        writeFileSync(file, html.slice(0, start) + text + html.slice(end));
        const page = await open(file);
        const message = await page.textContent("#message") || await page.textContent("#status");
        if (message) {
            messages++;
            if (await page.isVisible("#message"))
                assert.ok(await page.isVisible("#static"), name);
        } else /* a byte that nothing reads */
            assert.match(await page.textContent("#summary"), /total 1\.24 s/, name);
        await close(page);
    }
    assert.ok(messages >= 12, `${messages} messages`);
}

/* Let the engine's memory grow by so many pages of 64 KiB only; without a worker, which would have a
 * WebAssembly of its own. */
function limitMemory(pages) {
    delete window.Worker;
    const compile = WebAssembly.compile;
    WebAssembly.compile = (bytes) => {
        const read = (at) => {
            let value = 0, shift = 0;
            do value |= (bytes[at] & 127) << shift, shift += 7; while (bytes[at++] & 128);
            return [value, at];
        };
        const written = (value) => (value < 128 ? [value] : [value & 127 | 128,
            ...written(value >> 7)]);
        for (let at = 8; at < bytes.length;) {
            const [size, start] = read(at + 1);
            if (bytes[at] === 5) { /* memories: their number; flags, least, most */
                const [least] = read(start + 2);
                const memory = [1, 1, ...written(least), ...written(least + pages)];
                return compile.call(WebAssembly, new Uint8Array([...bytes.subarray(0, at), 5,
                    memory.length, ...memory, ...bytes.subarray(start + size)]));
            }
            at = start + size;
        }
        throw new Error("the engine has no memory");
    };
}

/* Memory that runs out at the start, or later: a message, and no wrong numbers. */
async function memory() {
    const file = report(data("firefox/small.json")), found = [];
    for (const pages of [0, 1, 2, 3, 5, 8, 12, 100]) {
        const page = await open(file, { init: `(${limitMemory})(${pages})` });
        const message = await page.textContent("#message") || await page.textContent("#status");
        found.push(message);
        if (message) assert.match(message, /memory/);
        else {
            await tab(page, "table");
            const status = await page.textContent("#status");
            if (status) assert.match(status, /memory/);
            else assert.ok((await viewRows(page)).length > 1);
        }
        await close(page);
    }
    assert.ok(found[0] !== "" && found[found.length - 1] === "", found.join());
}

export async function hostile() {
    await test("memory runs out", memory);
    await test("hostile names", names);
    await test("hostile rows select what they show", selects);
    await test("hostile names without scripts", staticNames);
    await test("damaged data", damaged);
}
