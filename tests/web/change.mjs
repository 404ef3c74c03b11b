/*
 * change.mjs - the question of a new user, answered by the page alone: what changed between these two
 * profiles, when, and in which thread?
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { WORK, close, open, report, settle, tab, test, viewRows } from "./harness.mjs";

const SPAN = 6000, FROM = 3000, TO = 4500;
const FRAMES = ["main", "loop", "render", "handle", "worker_main", "compress", "parse",
    "parse::number", "send"];

/* Two threads, a sample each millisecond. In the changed profile the worker spends 4 of 5 samples of
 * [FROM, TO) in parse::number, which did not exist before. */
function profile(changed) {
    let state = changed ? 3 : 4;
    const next = (below) => (state = (state * 48271) % 2147483647) % below;
    const stack = (...names) => names.map((name) => FRAMES.indexOf(name));
    const thread = (name, pick) => ({ type: "sampled", name, unit: "milliseconds", startValue: 0,
        endValue: SPAN, samples: Array.from({ length: SPAN }, (_, at) => pick(at)),
        weights: Array.from({ length: SPAN }, () => 1) });
    const calm = [stack("worker_main", "compress"), stack("worker_main", "handle", "parse"),
        stack("worker_main", "send")];
    const ui = () => (next(3) ? stack("main", "loop", "render") :
        stack("main", "loop", "handle", "parse"));
    const worker = (at) => (changed && at >= FROM && at < TO && next(5) ?
        stack("worker_main", "handle", "parse", "parse::number") : calm[next(3)]);
    const file = path.join(WORK, changed ? "after.speedscope.json" : "before.speedscope.json");
    writeFileSync(file, JSON.stringify({ $schema:
        "https://www.speedscope.app/file-format-schema.json", name: "x",
    shared: { frames: FRAMES.map((name) => ({ name, file: "src/x.c" })) },
    profiles: [thread("ui", ui), thread("worker", worker)] }));
    return file;
}

async function answer() {
    const page = await open(report(profile(true), profile(false)));
    await tab(page, "table");
    const rows = await viewRows(page), found = rows[0];
    assert.equal(found.Name, "parse::number", "what: the first row of the table");
    assert.equal(found["Base self"], "0");
    assert.equal(found["Δ self"], found.Self);
    assert.ok(rows.every((row) => row.File === "src/x.c"), "files of a comparison");

    await page.click(".rows .row");
    await page.click("#details button:has-text('Search')");
    await settle(page);
    assert.equal(await page.inputValue("#search"), "^parse::number$");
    const marked = await page.evaluate(() => window.pcolApp.lanes.lanes.map((lane) => {
        const { bins } = lane, places = [];
        for (let x = 0; x < bins.marked.length; x++)
            if (Number(bins.marked[x]) > 0) places.push(x / bins.marked.length);
        return [lane.title, places.length ? [places[0], places[places.length - 1]] : null];
    }));
    assert.deepEqual(marked.map(([title, places]) => [title, places !== null]), [["ui", false],
        ["base: ui", false], ["worker", true], ["base: worker", false]], "in which thread");
    const [from, to] = marked[2][1].map((share) => share * SPAN);
    assert.ok(Math.abs(from - FROM) < 20 && Math.abs(to - TO) < 20, `when: ${from} to ${to}`);
    await page.screenshot({ path: path.join(WORK, "change.png"),
        clip: { x: 0, y: 0, width: 1280, height: 460 } }); /* docs/report-change.png */

    await page.check("#only");
    await page.selectOption("#by", "thread");
    await settle(page);
    assert.deepEqual((await viewRows(page)).map((row) => [row.Name, row["Δ total"]]),
        [["worker", found.Self]], "how much of each thread");
    await page.click("#reset");
    await settle(page);

    await page.evaluate(() => window.pcolApp.openName("parse::number"));
    await settle(page);
    assert.match(await page.textContent("#peek-self"), /self .* \(.*%\); base: total 0 s, self 0 s$/);
    await close(page);
}

/* Boxes of a lane have no base: their colours and texts are not those of a change. */
async function stacks() {
    const page = await open(report(profile(true), profile(false)), { hash: "#view=stacks" });
    for (const [lane, title] of [["0", "ui"], ["1", "base: ui"]]) {
        await page.selectOption("#lane", lane);
        await settle(page);
        assert.equal(await page.locator("#lane option:checked").textContent(), title);
        const [changes, texts] = await page.evaluate(() => {
            const app = window.pcolApp, { boxes } = app.view.flames[0];
            const all = Array.from({ length: boxes.count }, (_, i) => i);
            return [all.filter((i) => app.boxColour(boxes, i) !==
                app.palette.frame(boxes.frame[i], "package")).length,
            all.map((i) => app.describeBox(boxes, i).join(" "))];
        });
        assert.equal(changes, 0, title);
        assert.ok(texts.length > 10 && !texts.some((text) => /base:|new|share/.test(text)), title);
        assert.ok(texts.some((text) => /^main total \d/.test(text)), texts[0]);
    }
    assert.ok(await page.isVisible("#colour-choice"));
    await close(page);
}

/* The lane of a base follows that of the profile, on its scale: half of the samples have half of the
 * height. A lane that only one of them has keeps a place of its own. */
async function scales() {
    const folded = (name, text) => {
        const file = path.join(WORK, name);
        writeFileSync(file, text);
        return file;
    };
    const samples = (comm, from, count) => Array.from({ length: count }, (_, i) =>
        `${comm} 1/${comm.length} [000] ${(from + i * 4 / count).toFixed(6)}: 1 cycles:\n` +
        "\t401000 f+0x0 (/x)\n\n").join("");
    const page = await open(report(
        folded("new.perf.txt", samples("worker", 1, 40000) + samples("late", 1, 400)),
        folded("old.perf.txt", samples("worker", 1, 20000) + samples("early", 1, 400))));
    const heights = await page.evaluate(() => {
        const { lanes, canvas, width } = window.pcolApp.lanes, ratio = devicePixelRatio;
        const c = canvas.getContext("2d"), x = Math.round(width / 2 * ratio);
        return lanes.map((lane, i) => {
            const at = Math.round(i * 34 * ratio), rows = Math.round(32 * ratio);
            const { data } = c.getImageData(x, at, 1, rows);
            let bars = 0; /* the bar reaches from the foot up */
            for (let y = rows - 1; y >= 0 && data.slice(4 * y, 4 * y + 3).join() ===
                data.slice(-4, -1).join(); y--) bars++;
            return [lane.title, bars / rows];
        });
    });
    assert.deepEqual(heights.map(([title]) => title).sort(), ["base: early", "base: worker", "late",
        "worker"]);
    const at = heights.findIndex(([title]) => title === "worker");
    assert.equal(heights[at + 1][0], "base: worker", "next to each other");
    assert.equal(heights[3][0], "base: early", "of the base alone");
    assert.ok(heights[at][1] > 0.85, `the whole height: ${heights[at][1]}`);
    assert.ok(Math.abs(heights[at + 1][1] - heights[at][1] / 2) < 0.08, String(heights));
    await close(page);
}

/* Many threads and long names: the table shows each value below the title of its column, the time axis
 * is always seen, and a search scrolls to the lane that has most of its matches. */
async function many() {
    const long = "ns::" + "Table<std::pair<int, std::string>>::".repeat(4) + "find(int)";
    const threads = (slow) => Array.from({ length: 24 }, (_, t) => Array.from({ length: 40 }, (_, i) =>
        `thread-${t} 1/${t + 1} [000] ${(1 + i / 10).toFixed(6)}: 1 cycles:\n\t401000 ` +
        `${t === 20 && i % slow === 0 ? long : "f"}+0x0 (/x)\n\n`).join("")).join("");
    const files = [["many.perf.txt", 2], ["few.perf.txt", 8]].map(([name, slow]) => {
        writeFileSync(path.join(WORK, name), threads(slow));
        return path.join(WORK, name);
    });
    const page = await open(report(...files));
    assert.match(await page.textContent("#summary"), /total 960 · base 960 \(0 %\)/);
    assert.match(await page.innerText("#legend"), /larger share than in the base\s*smaller/);
    await tab(page, "table");
    assert.ok(!await page.isVisible("#legend"));
    for (const width of [1280, 400]) {
        await page.setViewportSize({ width, height: 900 });
        await settle(page);
        const [titles, ...rows] = await page.$$eval("#panel .row", (all) => all.map((row) =>
            Array.from(row.childNodes, (cell) => Math.round(cell.getBoundingClientRect().left))));
        assert.ok(rows.length === 2 && titles.length === 9, "no file is known: no column");
        for (const row of rows) assert.deepEqual(row, titles, `${width}`);
    }
    assert.equal((await viewRows(page))[0].Name, long);
    const place = () => page.evaluate(() => {
        const host = document.getElementById("lanes"), inside = host.getBoundingClientRect();
        const { lanes } = window.pcolApp.lanes;
        const at = lanes.findIndex((lane) => lane.title === "thread-20") * 34 - host.scrollTop;
        return { axis: inside.bottom - host.querySelector(".ruler").getBoundingClientRect().bottom,
            seen: at >= 0 && at + 34 <= host.clientHeight - 16 };
    });
    const before = await place();
    assert.ok(before.axis >= 0 && before.axis < 3 && !before.seen, JSON.stringify(before));
    await page.click(".rows .row");
    assert.match(await page.textContent("#details"), /total 20, self 20base: total 5, self 5/);
    await page.click("#details button:has-text('Search')");
    await settle(page);
    const after = await place();
    assert.ok(after.axis >= 0 && after.axis < 3 && after.seen, JSON.stringify(after));
    await page.evaluate(() => { document.getElementById("lanes").scrollTop = 0; });
    await page.click("#tab-flame"); /* only another search scrolls again */
    await settle(page);
    assert.equal(await page.evaluate(() => document.getElementById("lanes").scrollTop), 0);
    await close(page);
}

/* The names of frames that do not match a search stay readable: brighter than their box in the dark theme,
 * darker in the light one. */
async function faint() {
    const file = report(profile(true), profile(false));
    for (const colorScheme of ["light", "dark"]) {
        const page = await open(file, { colorScheme, hash: "#search=^parse$" });
        const [box, text] = await page.evaluate(() => {
            const { canvas, boxes } = window.pcolApp.view.flame, ratio = devicePixelRatio;
            const i = boxes.frame.findIndex((f) => window.pcolApp.names[f] === "worker_main");
            const flame = window.pcolApp.view.flame, sum = (at, data) =>
                data[at] + data[at + 1] + data[at + 2];
            const { data } = canvas.getContext("2d").getImageData((flame.left(i) + 2) * ratio,
                (flame.top(boxes.depth[i]) + 2) * ratio, 70 * ratio, 13 * ratio);
            const back = sum(0, data);
            let far = back;
            for (let at = 0; at < data.length; at += 4)
                if (Math.abs(sum(at, data) - back) > Math.abs(far - back)) far = sum(at, data);
            return [back / 3, far / 3];
        });
        assert.ok(colorScheme === "dark" ? text - box > 60 : box - text > 60,
            `${colorScheme}: ${text} on ${box}`);
        await close(page);
    }
}

/* s: the same with the keys, in a flame graph. */
async function keys() {
    const page = await open(report(profile(true), profile(false)));
    await page.focus("#panel canvas");
    for (const key of ["ArrowDown", "ArrowDown", "s"]) await page.keyboard.press(key);
    await settle(page);
    assert.match(await page.inputValue("#search"), /^\^(main|worker_main)\$$/);
    assert.match(await page.textContent("#matched"), /^1 name, 6\.00 s \(50\.0 %\)/);
    await close(page);
}

export async function change() {
    await test("change: what, when, in which thread", answer);
    await test("change: stacks over time", stacks);
    await test("change: one scale for both", scales);
    await test("change: many threads, long names", many);
    await test("change: names that do not match", faint);
    await test("change: keys", keys);
}
