/*
 * features.mjs - every control of the page, with the pointer and with the keys
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { WORK, close, data, open, pcol, report, rows, settle, tab, test, viewRows }
    from "./harness.mjs";

const state = (page) => page.evaluate(() => ({ ...window.pcolApp.state.values }));
const text = (page, selector) => page.textContent(selector);

/* The middle of the widest box of a name, on the canvas of the current view. */
async function boxAt(page, name) {
    const place = await page.evaluate((wanted) => {
        const app = window.pcolApp, flame = app.view.flames[0], { boxes } = flame;
        const size = (i) => (i < 0 ? 0 : boxes.x1[i] - boxes.x0[i]);
        let best = -1;
        for (let i = 0; i < boxes.count; i++)
            if (app.frameName(boxes.frame[i]) === wanted && size(i) > size(best)) best = i;
        return best < 0 ? null : { y: flame.top(boxes.depth[best]) + 9,
            x: (Math.max(flame.left(best), 0) + Math.min(flame.right(best), flame.width)) / 2 };
    }, name);
    assert.ok(place, `no box ${name}`);
    const canvas = await page.locator("#panel canvas").first().boundingBox();
    return { x: canvas.x + place.x, y: canvas.y + place.y };
}

const zoom = (page) => page.evaluate(() => {
    const flame = window.pcolApp.view.flames[0];
    return [flame.from, flame.to];
});

async function flameByPointer() {
    const page = await open(report(data("pprof/cpu.pb.gz")));
    const place = await boxAt(page, "main.work");
    await page.mouse.move(place.x, place.y);
    assert.match(await text(page, "#tip"), /^main\.work\ntotal 990 ms/);
    await page.mouse.click(place.x, place.y);
    assert.match(await text(page, "#details"), /main\.work/);
    await page.mouse.dblclick(place.x, place.y);
    await settle(page);
    const [from, to] = await zoom(page);
    assert.ok(Math.abs(to - from - 990 / 1240) < 1e-9, `zoomed to ${from} ${to}`);
    await page.mouse.down();
    await page.mouse.move(place.x - 40, place.y, { steps: 4 });
    await page.mouse.up();
    await settle(page);
    assert.notEqual((await zoom(page))[0], from, "a drag moves the window");
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -100);
    await page.keyboard.up("Control");
    await settle(page);
    const span = await zoom(page);
    assert.ok(span[1] - span[0] < to - from, "the wheel zooms");
    await page.click("#zoom-in");
    await page.click("#zoom-out");
    await page.click("#zoom-all");
    await settle(page);
    assert.deepEqual(await zoom(page), [0, 1]);
    await page.mouse.click(place.x, place.y);
    await page.click("#details button:has-text('Callers')");
    await settle(page);
    assert.match(await text(page, "#peek-self"), /^main\.work: total 1\.24 s/);
    await close(page);
}

async function flameByKeys() {
    const page = await open(report(data("pprof/cpu.pb.gz")));
    await page.focus("#panel canvas");
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
    assert.match(await text(page, "#details"), /^main\.main/);
    await page.keyboard.press("ArrowUp");
    assert.match(await text(page, "#details"), /^runtime\.main/);
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
    assert.match(await text(page, "#details"), /^runtime\/pprof\.Do/, "the widest child");
    await page.keyboard.press("ArrowLeft");
    assert.match(await text(page, "#details"), /^main\.work/);
    await page.keyboard.press("ArrowRight");
    assert.match(await text(page, "#details"), /^runtime\/pprof\.Do/);
    await page.keyboard.press("Enter");
    await settle(page);
    assert.ok((await zoom(page))[1] - (await zoom(page))[0] < 1);
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("+");
    await page.keyboard.press("-");
    await page.keyboard.press("Escape");
    await settle(page);
    assert.deepEqual(await zoom(page), [0, 1]);
    await page.keyboard.press("c");
    await settle(page);
    assert.equal((await state(page)).view, "peek");
    await close(page);
}

async function tabsByKeys() {
    const page = await open(report(data("rprof/demo.Rprof")));
    await page.focus("#tab-flame");
    for (const view of ["inverted", "peek", "table", "stacks", "flame"]) {
        await page.keyboard.press("ArrowRight");
        await settle(page);
        assert.equal((await state(page)).view, view);
        assert.equal(await page.getAttribute(`#tab-${view}`, "aria-selected"), "true");
    }
    await page.keyboard.press("ArrowLeft");
    assert.equal((await state(page)).view, "stacks");
    await page.keyboard.press("?");
    assert.ok(await page.isVisible("#keys"));
    await page.keyboard.press("Escape");
    assert.ok(!await page.isVisible("#keys"));
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "search");
    await close(page);
}

async function table() {
    const file = data("pprof/cpu.pb.gz"), page = await open(report(file));
    await tab(page, "table");
    const order = async (key) => (await viewRows(page)).map((r) => r[key]);
    const selfs = (await order("Self")).map(Number);
    assert.deepEqual(selfs, [...selfs].sort((a, b) => b - a));
    await page.click("#panel .head button:has-text('Name')");
    const names = await order("Name");
    assert.deepEqual(names, [...names].sort((a, b) => (a < b ? -1 : 1)));
    await page.focus("#panel .grid");
    await page.keyboard.press("4");
    const totals = (await order("Total")).map(Number);
    assert.deepEqual(totals, [...totals].sort((a, b) => b - a));
    await page.keyboard.press("End");
    const last = (await order("Name")).at(-1);
    assert.match(await text(page, "#details b"), new RegExp("^" + last.replace(/\W/g, "\\$&")));
    await page.keyboard.press("Home");
    await page.keyboard.press("PageDown");
    await page.keyboard.press("Enter");
    await settle(page);
    assert.equal((await state(page)).view, "peek");
    for (const by of ["file", "line", "srcline", "location", "source"]) {
        await tab(page, "table");
        await page.selectOption("#by", by);
        const found = (await viewRows(page)).length;
        assert.equal(found, rows("top", "-q", "-n", "0", "--by", by, file).length, by);
    }
    await close(page);
}

async function search() {
    const file = data("pprof/cpu.pb.gz"), page = await open(report(file));
    await page.fill("#search", "main\\.fib");
    await settle(page);
    const wanted = pcol("top", "-q", "--focus", "main\\.fib", "--sort", "total", "-n", "1",
        "--format", "tsv", file).split("\n")[1].split("\t")[2];
    assert.match(await text(page, "#matched"), new RegExp(`^1 name, ${Number(wanted) / 1e6} ms`));
    await tab(page, "table");
    assert.deepEqual((await viewRows(page)).map((r) => r.Name), ["main.fib"]);
    await page.fill("#search", "MAIN\\.FIB");
    await settle(page);
    assert.match(await text(page, "#matched"), /^0 names/, "capitals count");
    await page.fill("#search", "main\\.fib");
    await page.check("#only");
    await settle(page);
    assert.match(await text(page, "#summary"), /selected 490 ms/);
    await page.fill("#search", "main\\.hash");
    await settle(page);
    assert.match(await text(page, "#summary"), /selected 250 ms/);
    await page.fill("#search", "(");
    await settle(page);
    assert.match(await text(page, "#matched"), /not a regular expression/);
    assert.equal(await page.getAttribute("#search", "aria-invalid"), "true");
    await page.click("#reset");
    await settle(page);
    assert.equal(await text(page, "#matched"), "");
    assert.equal(await page.inputValue("#search"), "");
    await close(page);
}

async function brush() {
    const file = data("firefox/small.json"), page = await open(report(file));
    const strip = await page.locator("#lanes canvas").first().boundingBox();
    await page.mouse.move(strip.x + strip.width * 0.4, strip.y + 10);
    assert.ok(await page.isVisible("#tip"));
    await page.mouse.down();
    await page.mouse.move(strip.x + strip.width * 0.99, strip.y + 10, { steps: 5 });
    await page.mouse.up();
    await settle(page);
    const { range } = await state(page);
    assert.match(range, /^\d+~\d+$/);
    const [from, to] = range.split("~").map((x) => Number(x) / 1e6);
    assert.equal(await page.inputValue("#range-from"), String(from));
    await tab(page, "table");
    const wanted = rows("top", "-q", "-n", "0", "--time", `+${from}-${to}`, file);
    assert.equal((await viewRows(page)).length, wanted.length);
    await page.focus("#lanes canvas");
    await page.keyboard.press("ArrowLeft");
    await settle(page);
    assert.notEqual((await state(page)).range, range);
    await page.keyboard.press("Shift+ArrowLeft");
    await page.keyboard.press("Escape");
    await settle(page);
    assert.equal((await state(page)).range, "");
    await page.fill("#range-from", "9");
    await page.fill("#range-to", "1");
    await page.press("#range-to", "Tab");
    assert.match(await text(page, "#status"), /must begin/);
    await page.click("#range-clear");
    await close(page);
}

/* Drags give times that one can read, and the right edge is the end; numbers of another selection do
 * not stay below the view. */
async function ranges() {
    const page = await open(report(data("firefox/small.json")));
    const box = await page.locator("#lanes canvas").first().boundingBox();
    const span = await page.evaluate(() => window.pcolApp.lanes.span);
    const unit = 10 ** Math.floor(Math.log10(span / box.width));
    const drag = async (from, to) => {
        await page.mouse.move(box.x + box.width * from, box.y + 10);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * to, box.y + 10, { steps: 3 });
        await page.mouse.up();
        await settle(page);
        return (await state(page)).range.split("~").map(Number);
    };
    await tab(page, "table");
    await page.click(".rows .row");
    assert.match(await text(page, "#details"), /total .*self /);
    const whole = await text(page, "#summary");
    assert.match(whole, / samples$/);
    const [from, to] = await drag(0.251, 0.7523);
    assert.ok(unit >= 10 && from % unit === 0 && to % unit === 0, `${from} ${to}: ${unit}`);
    assert.ok(Math.abs(from / span - 0.251) < 0.005 && Math.abs(to / span - 0.7523) < 0.005);
    assert.match(await text(page, "#summary"), / samples in the file$/);
    assert.ok(!/total/.test(await text(page, "#details")), "numbers of the whole profile");
    assert.ok(await page.isVisible("#details button"));
    assert.equal((await drag(0.5, 1.2))[1], span);
    await close(page);
}

async function lines() {
    const page = await open(report(data("pprof/cpu.pb.gz")));
    await page.selectOption("#frames", "line");
    await settle(page);
    assert.ok((await viewRows(page)).some((r) => r.name.trim() === "main.work:74"));
    await page.selectOption("#frames", "function");
    await settle(page);
    assert.ok((await viewRows(page)).some((r) => r.name.trim() === "main.work"));
    await close(page);
}

async function lanes() {
    const page = await open(report(data("rprof/demo.Rprof")));
    assert.match(await text(page, "#axis-name"), /order/);
    await tab(page, "stacks");
    assert.ok((await viewRows(page)).length > 3);
    const bins = await page.evaluate(() => {
        const sum = (values) => Array.from(values, Number).reduce((a, b) => a + b, 0);
        return window.pcolApp.lanes.lanes.map((lane) => [sum(lane.bins.weight),
            sum(lane.bins.samples)]);
    });
    const total = rows("top", "-q", "-n", "0", "--by", "source", data("rprof/demo.Rprof"));
    assert.deepEqual(bins.map((b) => b[0]), total.map((r) => r.total));
    await page.click("#lanes .labels button");
    await settle(page);
    assert.equal((await state(page)).source, "1");
    await page.click("#lanes .labels button");
    await settle(page);
    assert.equal((await state(page)).source, "");
    await close(page);
    await laneKeys();
}

/* The names of lanes are one stop of Tab. */
async function laneKeys() {
    const page = await open(report(data("pprof/cpu.pb.gz")));
    await page.selectOption("#lanes-by", "label:kind");
    await settle(page);
    const names = await page.locator("#lanes .labels button").allInnerTexts();
    assert.ok(names.length > 2);
    await page.focus("#lanes .labels button");
    for (let i = 0; i < names.length + 3; i++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    const at = names.length - 2;
    assert.equal(await page.evaluate(() => document.activeElement.textContent), names[at]);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "CANVAS");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await settle(page);
    assert.equal((await state(page)).value, names[at] === "(none)" ? "" : names[at]);
    await close(page);
}

async function links() {
    const file = await report(data("pprof/cpu.pb.gz"));
    let page = await open(file, { permissions: ["clipboard-read", "clipboard-write"] });
    await tab(page, "table");
    await page.fill("#search", "fmt");
    await settle(page);
    await page.click("#copy-link");
    await settle(page);
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(link, /#.*view=table/);
    await page.click("#copy-view");
    await settle(page);
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, /^Name\tSelf\tSelf %/);
    assert.match(copied, /\nfmt\./);
    await close(page);
    page = await open(file, { hash: link.slice(link.indexOf("#")) });
    assert.equal(await page.inputValue("#search"), "fmt");
    assert.equal(await page.getAttribute("#tab-table", "aria-selected"), "true");
    await page.evaluate(() => { location.hash = "#view=inverted"; });
    await settle(page);
    assert.equal((await state(page)).view, "inverted");
    await close(page);
    const nonsense = "#view=%00&zoom=NaN~9&range=a~b&frame=%3Cimg%3E&by=x&lane=-1";
    page = await open(file, { hash: nonsense });
    assert.equal((await state(page)).view, "flame");
    await close(page);
}

async function download() {
    const file = data("pprof/heap.pb.gz"), page = await open(report(file));
    const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
    assert.equal(saved.suggestedFilename(), "heap.pb.gz.pcol");
    const to = path.join(WORK, "saved.pcol");
    await saved.saveAs(to);
    assert.equal(pcol("top", "-q", "-n", "0", "--format", "tsv", to),
        pcol("top", "-q", "-n", "0", "--format", "tsv", file));
    assert.match(pcol("check", to), /ok/);
    await close(page);
}

async function themeAndPrint() {
    const page = await open(report(data("pprof/cpu.pb.gz")));
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await back();
    await page.click("#theme");
    assert.equal(await back(), light);
    await page.click("#theme");
    assert.notEqual(await back(), light);
    await tab(page, "table");
    await page.emulateMedia({ media: "print" });
    assert.ok(!await page.isVisible("#choices") && !await page.isVisible("#tabs"));
    assert.ok(await page.isVisible("#panel .row:nth-child(5)"));
    await close(page);
}

/* Without scripts, WebAssembly or workers. */
async function fallbacks() {
    const file = report(data("pprof/cpu.pb.gz"));
    let page = await open(file, { javaScriptEnabled: false, ready: false });
    assert.match(await text(page, "#static table"), /main\.fib/);
    assert.ok(await page.isVisible("#static svg"));
    assert.ok(!await page.isVisible("#app"));
    await page.context().close();
    page = await open(file, { init: () => { delete window.WebAssembly; } });
    assert.match(await text(page, "#message"), /no WebAssembly/);
    assert.ok(await page.isVisible("#static svg"));
    await close(page);
    page = await open(file, { init: () => { delete window.Worker; } });
    await tab(page, "table");
    assert.ok((await viewRows(page)).length > 5);
    await close(page);
}

async function sandboxed() {
    const file = report(data("pprof/cpu.pb.gz"));
    const html = readFileSync(file, "utf8").replace(/&/g, "&amp;").replace(/"/g, "&quot;");
    const outer = path.join(WORK, "frame.html");
    writeFileSync(outer, `<!DOCTYPE html><iframe width="900" height="800"
        sandbox="allow-scripts" srcdoc="${html}"></iframe>`);
    const page = await open(outer, { ready: false });
    const frame = page.frames()[1];
    await frame.waitForSelector("html[data-ready]", { state: "attached", timeout: 30000 });
    assert.match(await frame.textContent("#summary"), /total 1\.24 s/);
    await close(page);
}

/* A page that the browser saved after it ran: its elements are made again, once. */
async function saved() {
    let page = await open(report(data("pprof/cpu.pb.gz")));
    const again = path.join(WORK, "saved.html");
    writeFileSync(again, await page.content());
    await close(page);
    page = await open(again, { ready: false });
    await page.waitForFunction(() => window.pcolApp && window.pcolApp.view &&
        window.pcolApp.view.flames[0].boxes);
    assert.equal(await page.locator("#app").count(), 1);
    await tab(page, "table");
    assert.ok((await viewRows(page)).length > 5);
    /* The policy rejects the style attributes of the saved elements, which are gone. */
    page.problems = page.problems.filter((p) => !/^console: Applying inline style/.test(p));
    await page.evaluate(() => {
        window.violations = window.violations.filter((v) => v !== "style-src-attr inline");
    });
    await close(page);
}

/* Scripts or an engine that are cut or overwritten: a message, and the static part. */
async function brokenParts() {
    const html = readFileSync(report(data("pprof/cpu.pb.gz")), "utf8");
    for (const part of ["code", "wasm"]) {
        const start = html.indexOf(">", html.indexOf(`id="${part}"`)) + 1;
        const end = html.indexOf("<", start), packed = html.slice(start, end);
        const overwritten = (at) => packed.slice(0, at) + (packed[at] === "z" ? "y" : "z") +
            packed.slice(at + 1);
        const kinds = ["", "x", packed.slice(0, packed.length >> 1), packed.replace(/^\d+/, "17"),
            packed.replace(/ \d+ /, " 9 "), overwritten(60), overwritten(packed.length >> 1)];
        for (const [i, kind] of kinds.entries()) {
            const file = path.join(WORK, "broken.html");
            writeFileSync(file, html.slice(0, start) + kind + html.slice(end));
            const page = await open(file);
            assert.match(await text(page, "#message"), /cannot be shown: its parts are damaged/,
                `${part} ${i}`);
            assert.ok(await page.isVisible("#static svg"));
            await close(page);
        }
    }
}

async function anonymized() {
    const out = report("--anonymize", data("pprof/cpu.pb.gz"));
    assert.doesNotMatch(readFileSync(out, "utf8").replace(/<script[^]*?<\/script>/g, ""),
        /main\.fib|cpu\.pb/);
    const page = await open(out);
    await tab(page, "table");
    assert.ok((await viewRows(page)).every((r) => /^f\d+$/.test(r.Name)));
    await close(page);
}

async function selectedOnly() {
    const page = await open(report("--focus", "main.fib", "--title", "<b>Fib & \"co\"",
        data("pprof/cpu.pb.gz")));
    assert.equal(await page.title(), "<b>Fib & \"co\"");
    assert.match(await text(page, "#summary"), /total 490 ms/);
    await close(page);
}

async function size() {
    const html = readFileSync(report(data("pprof/threadcreate.pb.gz")), "utf8");
    const bare = html.replace(/<div id="static">[^]*?<\/div>/, "")
        .replace(/<script type="text\/plain" id="data"[^]*?<\/script>/, "");
    assert.ok(Buffer.byteLength(bare) <= 200000, `${Buffer.byteLength(bare)} bytes`);
}

/* Of reports and of `pcol view`. */
export const shared = { flameByPointer, flameByKeys, tabsByKeys, table, search, brush, ranges, lines, lanes,
    links, themeAndPrint };

export async function features() {
    for (const [name, action] of Object.entries({ ...shared, download, fallbacks, sandboxed,
        saved, brokenParts, anonymized, selectedOnly, size }))
        await test(name, action);
}
