/*
 * tracks.mjs - markers and counters of Firefox profiles as lanes, and the kinds of frames
 *
 * The profile is made here; the oracle reads its JSON, pixel by pixel.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { WORK, close, data, open, report, settle, tab, test,
    viewRows } from "./harness.mjs";

const MARKERS = 400, SPAN = 500, NAMES = ["Paint", "GCMajor", "<b>Load</b>", "Ping"];

/* Two threads of 500 samples, markers with and without durations, two counters. */
function profile() {
    let state = 5;
    const next = (below) => (state = (state * 48271) % 2147483647) % below;
    const made = JSON.parse(readFileSync(data("firefox/small.json"), "utf8"));
    const strings = made.shared.stringArray, first = strings.length;
    strings.push(...NAMES);
    made.meta.categories.push({ name: "Layout", color: "blue", subcategories: ["Other"] });
    made.threads = ["GeckoMain", "Compositor"].map((name, tid) => {
        const thread = structuredClone(made.threads[0]), times = [];
        for (let i = 0; i < SPAN; i++) times.push(100 + i);
        Object.assign(thread, { name, tid, pid: "7" });
        thread.samples = { length: SPAN, stack: times.map(() => 1), time: times,
            weight: null, weightType: "samples" };
        const m = { length: MARKERS, name: [], startTime: [], endTime: [], phase: [], category: [],
            data: [] };
        for (let i = 0; i < MARKERS; i++) {
            const start = 90 + next(520000) / 1000, phase = next(4);
            const length = [0.25, 3, 40, 200][next(4)] * (1 + next(100) / 100);
            m.name.push(first + next(NAMES.length));
            m.startTime.push(phase === 3 ? null : start);
            m.endTime.push(phase === 1 ? start + length : phase === 3 ? start :
                phase === 0 && i % 2 ? 0 : null); /* samply and Firefox: 0 for points in time */
            m.phase.push(phase);
            m.category.push(next(2));
            m.data.push(i % 3 ? null : { type: "Text", name: `event ${i}` });
        }
        thread.markers = m;
        return thread;
    });
    const counter = (name, category) => {
        const time = [], count = [];
        for (let at = 50 + next(3); at < 650; at += 1 + next(5)) {
            time.push(at);
            count.push(next(2000) - 900);
        }
        return { name, category, description: `about ${name}`, pid: "7", mainThreadIndex: 0,
            samples: { length: time.length, time, count } };
    };
    made.counters = [counter("malloc", "Memory"), counter("eventDelay", "CPU")];
    const file = path.join(WORK, "tracks.json");
    writeFileSync(file, JSON.stringify(made));
    return { file, made };
}

const ns = (ms) => Math.round(ms * 1e6);

/* What a pixel of [from, to) shows of the markers of a thread. */
function markersIn(thread, strings, from, to) {
    const { markers: m } = thread;
    const found = { count: 0, shortest: null, points: new Set() };
    for (let i = 0; i < m.length; i++) {
        const start = ns(m.startTime[i] ?? m.endTime[i]);
        const end = m.endTime[i] === null ? start : Math.max(start, ns(m.endTime[i]));
        const inside = start === end ? start >= from && start < to : start < to && end > from;
        if (!inside) continue;
        found.count++;
        if (start === end) found.points.add(i);
        else if (found.shortest === null || end - start < found.shortest[1])
            found.shortest = [i, end - start, strings[m.name[i]]];
    }
    return found;
}

async function markers() {
    const { file, made } = profile(), page = await open(report(file));
    const lanes = await page.evaluate(() => window.pcolApp.lanes.lanes.map((lane) => ({
        title: lane.title, kind: lane.kind, bins: lane.kind === "markers" && {
            counts: [...lane.bins.counts], row: [...lane.bins.row], name: [...lane.bins.name],
            pointRow: [...lane.bins.pointRow], names: lane.bins.names } })));
    assert.deepEqual(lanes.map((l) => l.title), ["GeckoMain", "GeckoMain: markers", "Compositor",
        "Compositor: markers", "malloc", "eventDelay"]);
    const range = await page.evaluate(() => [Number(window.pcolApp.lanes.sets[0].from),
        window.pcolApp.lanes.span, window.pcolApp.lanes.count]);
    const [from, span, count] = range;
    let seen = 0, points = 0;
    made.threads.forEach((thread, t) => {
        const { bins } = lanes[2 * t + 1], rowOf = (row) => row - t * MARKERS;
        for (let x = 0; x < count; x++) {
            const wanted = markersIn(thread, made.shared.stringArray, from + span * x / count,
                from + span * (x + 1) / count);
            assert.equal(bins.counts[x], wanted.count, `pixel ${x} of ${thread.name}`);
            if (wanted.shortest === null) assert.equal(bins.row[x], 0xffffffff);
            else {
                assert.equal(rowOf(bins.row[x]), wanted.shortest[0], `pixel ${x}`);
                assert.equal(bins.names[bins.name[x]], wanted.shortest[2]);
                seen++;
            }
            if (bins.pointRow[x] !== 0xffffffff) points++;
            assert.ok(wanted.points.size === 0 ? bins.pointRow[x] === 0xffffffff :
                wanted.points.has(rowOf(bins.pointRow[x])));
        }
    });
    assert.ok(seen > count && points > 100, `${seen} and ${points} pixels`);
    await close(page);
}

async function counters() {
    const { file, made } = profile(), page = await open(report(file));
    const found = await page.evaluate(() => window.pcolApp.lanes.lanes
        .filter((lane) => lane.kind === "counter").map((lane) => lane.bins.values));
    const [from, span, count] = await page.evaluate(() => [
        Number(window.pcolApp.lanes.sets[0].from), window.pcolApp.lanes.span,
        window.pcolApp.lanes.count]);
    const sum = (samples, a, b) => samples.time.reduce((all, ms, i) =>
        (ns(ms) >= a && ns(ms) < b ? all + samples.count[i] : all), 0);
    made.counters.forEach(({ samples, category }, k) => {
        for (let x = 0; x < count; x++) {
            const a = from + span * x / count, b = from + span * (x + 1) / count;
            assert.equal(found[k][x], sum(samples, category === "Memory" ? 0 : a, b),
                `pixel ${x} of counter ${k}`);
        }
    });
    await close(page);
}

/* With the pointer and with the keys: data of a marker, its time, its thread. */
async function controls() {
    const { file, made } = profile(), page = await open(report(file));
    const lanes = page.locator("#lanes canvas").first();
    await page.evaluate(() => { document.getElementById("lanes").scrollTop = 0; });
    const strip = await lanes.boundingBox();
    const row = await page.evaluate(() => window.pcolApp.lanes.lanes[1].bins.row[300]);
    await page.mouse.move(strip.x + 300.5, strip.y + 34 + 24);
    assert.match(await page.textContent("#tip"), /^GeckoMain: markers\n.*: \d+ markers\n/);
    await page.mouse.click(strip.x + 300.5, strip.y + 34 + 24);
    await settle(page);
    const m = made.threads[0].markers;
    assert.equal(await page.textContent("#details b"), made.shared.stringArray[m.name[row]]);
    if (m.data[row]) assert.match(await page.textContent("#details"), /name: event/);
    assert.match(await page.textContent("#details"),
        new RegExp(made.meta.categories[m.category[row]].name));
    await page.click("#details button:has-text('Select its time')");
    await settle(page);
    const from = Math.max(0, ns(m.startTime[row]) - 100e6);
    const to = Math.min(ns(m.endTime[row]) - 100e6,
        await page.evaluate(() => window.pcolApp.lanes.span));
    assert.equal(await page.evaluate(() => window.pcolApp.state.get("range")), `${from}~${to}`);
    await page.focus("#lanes canvas");
    const seen = new Set();
    for (let i = 0; i < 6; i++) {
        await page.keyboard.press("m");
        await settle(page);
        seen.add(await page.textContent("#details"));
    }
    await page.keyboard.press("M");
    await settle(page);
    assert.ok(seen.size > 2 && seen.has(await page.textContent("#details")), `${seen.size} markers`);
    await page.click("#lanes .labels button:nth-child(4)");
    await settle(page);
    assert.equal(await page.inputValue("#thread"), "Compositor");
    assert.deepEqual(await page.evaluate(() => window.pcolApp.lanes.lanes.map((l) => l.title)),
        ["Compositor", "Compositor: markers", "malloc", "eventDelay"]);
    await page.screenshot({ path: path.join(WORK, "tracks.png") });
    await tab(page, "stacks");
    assert.deepEqual(await page.locator("#lane option").allTextContents(), ["Compositor"]);
    await close(page);
}

/* The markers as rows: numbers and order, thread, range, search, keys, the state in the address. */
async function table() {
    const { file, made } = profile(), texts = made.shared.stringArray;
    const page = await open(report(file), { hash: "#view=table&by=marker" });
    const from = await page.evaluate(() => Number(window.pcolApp.lanes.sets[0].from));
    const expected = made.threads.flatMap(({ name: Thread, markers: m }) =>
        Array.from(m.name, (code, i) => {
            const start = m.startTime[i], end = m.endTime[i];
            return { Name: texts[code], Start: String(ns(start ?? end) - from),
                Duration: start === null || end === null || end < start ? "" : String(ns(end) - ns(start)), Thread,
                Category: made.meta.categories[m.category[i]].name,
                Data: m.data[i] ? `type: Text, name: event ${i}` : "" };
        }));
    const by = (key) => (a, b) => Number(a[key] || -1) - Number(b[key] || -1);
    expected.sort(by("Start"));
    const check = async (rows, what) => assert.deepEqual(await viewRows(page), rows, what);
    await check(expected, "all, by start");
    await page.focus(".grid");
    await page.keyboard.press("3");
    const longest = (await viewRows(page)).map((row) => Number(row.Duration || -1));
    assert.deepEqual(longest, expected.map((row) => Number(row.Duration || -1)).sort((a, b) => b - a));
    await page.keyboard.press("2");
    await page.keyboard.press("2");
    await page.fill("#search", "event 3[0-9]*$|layout");
    await settle(page);
    const wanted = expected.filter((row) => /event 3\d*$/.test(row.Data) ||
        row.Category === "Layout");
    assert.ok(wanted.length > 50 && wanted.length < 700);
    await check(wanted, "search in names, data and categories");
    await page.selectOption("#thread", "Compositor");
    await settle(page);
    await check(wanted.filter((row) => row.Thread === "Compositor"), "thread and search");
    await page.fill("#search", "");
    for (const [box, ms] of [["#range-from", "100"], ["#range-to", "150"]]) {
        await page.fill(box, ms);
        await page.press(box, "Tab");
    }
    await settle(page);
    const inside = expected.filter((row) => {
        const start = Number(row.Start), end = start + Number(row.Duration || 0);
        return row.Thread === "Compositor" && (start === end ? start >= 100e6 && start < 150e6 :
            start < 150e6 && end > 100e6);
    });
    assert.ok(inside.length > 20 && inside.length < 300);
    await check(inside, "thread and range");
    const at = inside.findIndex((row) => Number(row.Duration) > 0);
    await page.focus(".grid");
    for (let i = 0; i < at; i++) await page.keyboard.press("ArrowDown");
    if (at === 0) await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await settle(page);
    const start = Number(inside[at].Start), end = start + Number(inside[at].Duration);
    const span = await page.evaluate(() => window.pcolApp.lanes.span);
    assert.equal(await page.evaluate(() => window.pcolApp.state.get("range")),
        `${Math.max(0, start)}~${Math.min(end, span)}`);
    await page.click(".rows .row");
    await settle(page);
    assert.match(await page.textContent("#details"), /at .*for .* ms/);
    await page.screenshot({ path: path.join(WORK, "markers.png") });
    await close(page);
}

/* A thread without a name has its tid as one everywhere; numbers of data have all digits. */
async function unnamed() {
    const { made } = profile(), file = path.join(WORK, "unnamed.json");
    Object.assign(made.threads[1], { name: null, tid: 77 });
    made.threads[1].markers.data[1] = { type: "X", id: 123454321, d: 0.1 };
    writeFileSync(file, JSON.stringify(made).replace("123454321", "9007199254740993"));
    const page = await open(report(file), { hash: "#view=table&by=marker" });
    assert.deepEqual(await page.evaluate(() => window.pcolApp.lanes.lanes.slice(0, 4).map((l) =>
        l.title)), ["GeckoMain", "GeckoMain: markers", "77", "77: markers"]);
    assert.deepEqual(await page.locator("#thread option").allTextContents(), ["all", "77", "GeckoMain"]);
    await page.selectOption("#thread", "77");
    await settle(page);
    const rows = await viewRows(page);
    assert.deepEqual([rows.length, rows.every((row) => row.Thread === "77")], [MARKERS, true]);
    assert.ok(rows.some((row) => row.Data === "type: X, id: 9007199254740993, d: 0.1"));
    await page.evaluate(() => window.pcolApp.pickLane(window.pcolApp.lanes.lanes[1]));
    await settle(page);
    assert.equal(await page.evaluate(() => window.pcolApp.state.get("thread")), "");
    await close(page);
}

/* Those of both profiles; a profile without markers does not offer them. */
async function tables() {
    const { file } = profile();
    let page = await open(report(file, data("firefox/small.json")), { hash: "#view=table&by=marker" });
    const rows = await viewRows(page), of = (name) => rows.filter((row) => row.Profile === name);
    assert.equal(of("new").length, 2 * MARKERS);
    assert.ok(of("base").length > 0 && rows.length === of("new").length + of("base").length);
    await close(page);
    page = await open(report(data("rprof/demo.Rprof")));
    assert.equal(await page.locator("#by option[value=marker]").count(), 0);
    await close(page);
}

/* More markers than a table lists: the page says so, and a range has all of its own. */
async function limit() {
    const { made } = profile(), m = made.threads[0].markers, count = 200500;
    const each = (value) => Array.from({ length: count }, (_, i) => value(i));
    Object.assign(m, { length: count, name: each(() => m.name[0]), category: each(() => 0),
        startTime: each((i) => 100 + i / count * 490), endTime: each(() => null),
        phase: each(() => 0), data: each(() => null) });
    made.threads.length = 1;
    const file = path.join(WORK, "many.json");
    writeFileSync(file, JSON.stringify(made));
    const page = await open(report(file), { hash: "#view=table&by=marker" });
    await settle(page);
    assert.equal(await page.textContent("#panel .note"), "The first 200,000 of 200,500 markers: " +
        "select a thread or a range of time.");
    const listed = () => page.evaluate(() => window.pcolApp.view.table.rows.length);
    assert.equal(await listed(), 200000);
    for (const [box, ms] of [["#range-from", "245"], ["#range-to", "490"]]) {
        await page.fill(box, ms);
        await page.press(box, "Tab");
    }
    await settle(page);
    assert.equal(await page.locator("#panel .note").count(), 0);
    assert.equal(await listed(), count / 2);
    await close(page);
}

/* Garbage collection, native code and the program's functions have colours of their own. */
async function kinds() {
    const made = JSON.parse(readFileSync(data("firefox/small.json"), "utf8"));
    const isJs = made.shared.funcTable.isJS;
    made.shared.funcTable.isJS = isJs.map((_, i) => made.shared.stringArray[
        made.shared.funcTable.name[i]] === "run");
    const file = path.join(WORK, "kinds.json");
    writeFileSync(file, JSON.stringify(made));
    const kindOf = (page, name) => page.evaluate((wanted) => {
        const app = window.pcolApp;
        return app.palette.kind(app.byName.get(wanted));
    }, name);
    let page = await open(report(file));
    assert.deepEqual([await kindOf(page, "main"), await kindOf(page, "run")], ["native", ""]);
    await page.selectOption("#colour", "category");
    const groups = await page.evaluate(() => ["main", "run"].map((name) =>
        window.pcolApp.palette.group(window.pcolApp.byName.get(name), "category")));
    assert.deepEqual(groups, ["Other", "Other"]);
    await close(page);
    page = await open(report(data("rprof/gc.Rprof")));
    const colours = await page.evaluate(() => {
        const { palette, byName, names } = window.pcolApp;
        const gc = palette.frame(byName.get("<GC>"), "package");
        return [gc, names.filter((n) => n !== "<GC>").map((n) =>
            palette.frame(byName.get(n), "package"))];
    });
    assert.equal(await kindOf(page, "<GC>"), "gc");
    assert.ok(colours[1].length > 3 && !colours[1].includes(colours[0]), "no other frame is like <GC>");
    await close(page);
    page = await open(report(data("pprof/cpu.pb.gz")));
    assert.equal(await kindOf(page, "main.fib"), "", "a profile of native code only");
    const files = await page.evaluate(() => ["main.fib", "runtime/pprof.Do"].map((name) =>
        window.pcolApp.palette.group(window.pcolApp.byName.get(name), "file")));
    assert.deepEqual(files, ["./demo.go", "runtime/pprof/runtime.go"]);
    await close(page);
}

export async function tracks() {
    for (const [name, action] of Object.entries({ markers, counters, controls, table, tables,
        unnamed, limit, kinds }))
        await test(`tracks ${name}`, action);
}
