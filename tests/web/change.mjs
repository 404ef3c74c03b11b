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
        ["worker", true], ["base: ui", false], ["base: worker", false]], "in which thread");
    const [from, to] = marked[1][1].map((share) => share * SPAN);
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
    for (const [lane, title] of [["0", "ui"], ["2", "base: ui"]]) {
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
    await test("change: keys", keys);
}
