/*
 * numbers.mjs - the page's numbers against pcol top, tree, peek and diff
 *
 * The oracle is the native command; its answers have oracles of their own (tests/oracle).
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { WORK, close, data, open, pcol, report, rows, settle, shared, tab, test, viewRows }
    from "./harness.mjs";

const big = (text) => (/^-?\d+$/.test(String(text)) ? String(BigInt(text)) : String(Number(text)));
const sorted = (list) => list.map((row) => row.join(" ")).sort();

/* Integers beyond 2^53 would be rounded by JSON.parse. */
const exactRows = (...args) => {
    const [head, ...lines] = pcol(...args, "--format", "tsv").trimEnd().split("\n")
        .map((line) => line.split("\t"));
    return lines.map((line) => Object.fromEntries(head.map((key, i) => [key, untsv(line[i])])));
};

/* A field of TSV as the page shows it: control characters as \xNN. */
const CONTROLS = { t: "\\x09", n: "\\x0a", r: "\\x0d", "\\": "\\" };
const untsv = (text) => text.replace(/\\([tnr\\])/g, (_, c) => CONTROLS[c]);

async function sameTop(page, file, selection) {
    await tab(page, "table");
    await page.selectOption("#by", "function");
    const found = (await viewRows(page)).map((r) => [big(r.Self), big(r.Total), r.Name]);
    const wanted = exactRows("top", "-q", "-n", "0", ...selection, file)
        .map((r) => [big(r.self), big(r.total), r.name]);
    assert.deepEqual(sorted(found), sorted(wanted), "top");
    return wanted;
}

/* Paths of a tree: "a;b;c total self". Depths are those of the first row's, from 1. */
function paths(list) {
    const stack = [];
    return list.map(({ depth, name, total, self }) => {
        stack.length = depth - 1;
        stack.push(name);
        return `${stack.join(";")} ${big(total)} ${big(self)}`;
    });
}

async function sameTree(page, file, view, selection) {
    await tab(page, view);
    const visible = (await viewRows(page)).slice(1).map((r) => {
        const name = r.name.trimStart();
        return { depth: (r.name.length - name.length) / 2, name, total: r.total, self: r.self };
    });
    const options = view === "inverted" ? ["--bottom-up"] : [];
    const all = new Set(paths(exactRows("tree", "-q", "-n", "0", ...options, ...selection, file)));
    assert.ok(visible.length > 0 || all.size === 0, "no boxes");
    for (const path of paths(visible)) assert.ok(all.has(path), `${view}: ${path}`);
    /* Every frame of the first level with at least a hundredth of the weight is visible. */
    const sum = [...all].filter((p) => !p.split(" ")[0].includes(";"));
    assert.ok(visible.filter((r) => r.depth === 1).length <= sum.length);
}

async function samePeek(page, file, names, selection) {
    for (const name of names) {
        await tab(page, "peek");
        await page.fill("#name", name);
        await settle(page);
        await page.waitForSelector("#peek-self");
        const found = await page.evaluate(() => window.pcolApp.view.tables.slice(0, 2).map((t) =>
            t.text().trimEnd().split("\n").slice(1).map((line) => line.split("\t"))));
        const answer = exactRows("peek", "-q", ...selection, name, file);
        const wanted = (relation) => answer.filter((r) => r.relation === relation)
            .map((r) => [big(r.self), big(r.total), r.name]);
        ["caller", "callee"].forEach((relation, i) => assert.deepEqual(
            sorted(found[i].map((r) => [big(r[1]), big(r[3]), r[0]])),
            sorted(wanted(relation)), `${relation} of ${name}`));
    }
}

export async function same(file, selection = [], choose = async () => {}, options = []) {
    const page = await open(report(...options, file));
    await choose(page);
    const top = await sameTop(page, file, selection);
    await sameTree(page, file, "flame", selection);
    await sameTree(page, file, "inverted", selection);
    const names = top.map((r) => r[2]).filter((n) => !/[";\\]/.test(n));
    await samePeek(page, file, [names[0], names[names.length >> 1]].filter(Boolean), selection);
    await close(page);
}

const FILES = ["pprof/cpu.pb.gz", "pprof/heap.pb.gz", "pprof/mutex.pb.gz", "rprof/demo.Rprof",
    "rprof/gc.Rprof", "rprof/line.Rprof", "rprof/memory.Rprof", "rprof/names.Rprof",
    "rprof/stackless.Rprof", "rprof/rprofmem.out", "firefox/small.json", "tachyon/small.tach",
    "jfr/small.jfr", "perf/three.txt", "folded/example.folded", "perun/small.perf",
    "speedscope/small.speedscope.json", "cpuprofile/small.cpuprofile", "dhat/small.dhat"];
const SHARED_FILES = ["firefox/samply-ls.json", "firefox/processed-3.json",
    "firefox/public-ppvm.json.gz", "bugs/go-cpu-1.pb.gz", "bugs/go-heap-1.pb.gz",
    "bugs/doubles.perf", "bugs/perf-inlined.txt", "rprof/large.Rprof", "rprof/pkg_1.Rprof"];

export async function numbers() {
    for (const name of FILES) await test(`numbers ${name}`, () => same(data(name)));
    for (const name of SHARED_FILES) {
        const file = shared(name);
        if (file) await test(`numbers ${name}`, () => same(file));
    }
    await test("numbers of every sample type", async () => {
        const file = data("pprof/heap.pb.gz");
        for (const type of ["alloc_objects/count", "alloc_space/bytes", "inuse_objects/count"])
            await same(file, ["--sample-type", type], async (page) => {
                await page.selectOption("#type", type);
                await settle(page);
            });
    });
    await test("numbers of sample types of one name", async () => {
        const twice = profileOfTypes("twice.pb", ["cpu", "ns"], ["cpu", "us"], ["cpu", "ns"]);
        const choose = (type) => async (page) => {
            await page.selectOption("#type", type);
            await settle(page);
        };
        await same(twice, [], async (page) => assert.deepEqual( /* the default is the last one */
            await page.$$eval("#type option", (list) => list.map((o) => o.textContent)),
            ["cpu/ns (default)", "cpu/ns", "cpu/us", "cpu/ns (2)"]));
        await same(twice, [], choose("cpu/ns (2)"));
        await same(twice, ["--sample-type", "cpu/ns"], choose("cpu/ns"));
        await same(twice, ["--sample-type", "cpu/us"], choose("cpu/us"));
        const mixed = path.join(WORK, "mixed.pcol"), scope = path.join(WORK, "scope.json");
        writeFileSync(scope, JSON.stringify({ "$schema": "https://www.speedscope.app/file-format-schema.json",
            shared: { frames: [{ name: "f" }] }, profiles: [{ type: "sampled", name: "p",
                unit: "nanoseconds", startValue: 0, endValue: 2, samples: [[0]], weights: [1.5] }] }));
        writeFileSync(path.join(WORK, "whole.json"), readFileSync(scope, "utf8").replace("1.5", "1"));
        pcol("merge", "-q", "-f", scope, path.join(WORK, "whole.json"), "-o", mixed);
        await same(mixed, [], async (page) => assert.equal( /* doubles and integers of one type */
            (await page.$$("#type option")).length, 1));
        const slashes = profileOfTypes("slashes.pb", ["a", "b/c"], ["a/b", "c"]);
        await same(slashes, [], choose("a/b/c (2)"));
        await same(slashes, ["--sample-type", "a"], choose("a/b/c"));
    });
    await test("numbers with dropped frames", async () => {
        const file = droppingProfile(), keep = ["--keep-dropped"];
        assert.notDeepEqual(exactRows("top", "-q", file), exactRows("top", "-q", ...keep, file));
        await same(file);
        await same(file, keep, async () => {}, keep);
    });
    await ranges();
    await labels();
    await diffs();
}

/* Messages of profile.proto: a field of bytes, a field of a number below 128. */
const field = (number, ...parts) => {
    const bytes = parts.flat();
    return [number << 3 | 2, bytes.length, ...bytes];
};
const number = (field_, value) => [field_ << 3, value];

/* A pprof profile of samples in f and in g, whose values count from 1. */
function profileOfTypes(name, ...types) {
    const strings = ["", "f", "g"], text = (s) => {
        if (!strings.includes(s)) strings.push(s);
        return strings.indexOf(s);
    };
    const named = types.flatMap(([type, unit]) =>
        field(1, number(1, text(type)), number(2, text(unit))));
    const file = path.join(WORK, name);
    const frames = [1, 2].flatMap((id) => [...field(4, number(1, id), field(4, number(1, id))),
        ...field(5, number(1, id), number(2, id))]);
    writeFileSync(file, Buffer.from([...named, ...[1, 2].flatMap((id) => field(2, field(1, [id]),
        field(2, types.map((_, i) => 1 + id * i)))),
    ...frames, ...strings.flatMap((s) => field(6, [...Buffer.from(s)]))]));
    return file;
}

/* A pprof profile, main -> run -> alloc, whose drop_frames match alloc (profile.proto). */
function droppingProfile() {
    const strings = ["", "cpu", "count", "main", "run", "alloc"];
    const file = path.join(WORK, "dropping.pb");
    const frames = [1, 2, 3].flatMap((id) => [
        ...field(4, number(1, id), field(4, number(1, id))),
        ...field(5, number(1, id), number(2, id + 2))]);
    writeFileSync(file, Buffer.from([...field(1, number(1, 1), number(2, 2)),
        ...field(2, field(1, [3, 2, 1]), field(2, [5])),
        ...field(2, field(1, [2, 1]), field(2, [1])),
        ...frames, ...strings.flatMap((s) => field(6, [...Buffer.from(s)])), ...number(7, 5)]));
    return file;
}

/* A deterministic pseudorandom sequence. */
function random(seed) {
    let state = seed;
    return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/* A profile whose first type has times; the one that speedscope shows first has none. */
function timed(name) {
    if (!name.startsWith("speedscope/")) return data(name);
    const file = path.join(WORK, "timed.speedscope.json");
    const text = readFileSync(data(name), "utf8");
    writeFileSync(file, text.replace(/"activeProfileIndex": *1/, '"activeProfileIndex": 0'));
    return file;
}

async function ranges() {
    const next = random(7);
    for (const name of ["firefox/small.json", "perf/three.txt", "tachyon/small.tach",
        "cpuprofile/small.cpuprofile", "speedscope/small.speedscope.json"])
        await test(`ranges of time ${name}`, async () => {
            const file = timed(name), page = await open(report(file));
            const span = await page.evaluate(() => window.pcolApp.lanes.span / 1e6);
            const first = BigInt(await page.evaluate(() =>
                String(window.pcolApp.lanes.sets[0].from)));
            const at = (ms) => `${first + BigInt(Math.round(ms * 1e6))}ns`;
            for (let i = 0; i < 4; i++) {
                const from = Math.round(next() * span * 1000) / 1000;
                const to = Math.round((from + next() * (span - from) + 0.001) * 1000) / 1000;
                await page.fill("#range-from", String(from));
                await page.press("#range-from", "Tab");
                await page.fill("#range-to", String(to));
                await page.press("#range-to", "Tab");
                await sameTop(page, file, ["--time", `${at(from)}-${at(to)}`]);
            }
            await close(page);
        });
    for (const name of ["rprof/demo.Rprof", "pprof/cpu.pb.gz"])
        await test(`ranges of order ${name}`, async () => {
            const file = data(name), page = await open(report(file));
            const span = await page.evaluate(() => window.pcolApp.lanes.span);
            for (let i = 0; i < 3; i++) {
                const from = Math.floor(next() * span);
                const to = from + 1 + Math.floor(next() * (span - from));
                await page.fill("#range-from", String(from));
                await page.press("#range-from", "Tab");
                await page.fill("#range-to", String(to));
                await page.press("#range-to", "Tab");
                await sameTop(page, file, ["--order", `${from + 1}-${to + 1}`]);
            }
            await close(page);
        });
}

async function labels() {
    for (const name of ["perun/small.perf", "pprof/cpu.pb.gz"])
        await test(`keys of labels ${name}`, async () => {
            const page = await open(report(data(name)));
            const keys = rows("labels", "-q", data(name)).map((row) => row.key);
            assert.deepEqual(await page.$$eval("#key option", (all) => all.map((o) => o.value)),
                ["", ...new Set(keys)]);
            await close(page);
        });
    const file = shared("bugs/go-cpu-1.pb.gz");
    if (file)
        await test("labels and their lanes", async () => {
            const page = await open(report(file));
            for (const key of ["route", "worker"]) {
                const values = rows("top", "-q", "--by", `label:${key}`, file).map((r) => r.name)
                    .filter(Boolean);
                for (const value of values.slice(0, 2)) {
                    await page.selectOption("#key", key);
                    await settle(page);
                    await page.selectOption("#value", value);
                    await settle(page);
                    await sameTop(page, file, ["--label", `${key}=${value}`]);
                    await page.click("#reset");
                    await settle(page);
                }
            }
            await close(page);
        });
    const threads = shared("firefox/processed-3.json");
    if (threads)
        await test("threads", async () => {
            const page = await open(report(threads));
            for (const name of ["GeckoMain", "Compositor"]) {
                await page.selectOption("#thread", name);
                await sameTop(page, threads, ["--thread", `^${name}$`]);
            }
            await close(page);
        });
}

async function diffs() {
    const pairs = [[data("rprof/plain.Rprof"), data("rprof/gc.Rprof")],
        [data("pprof/heap.pb.gz"), data("pprof/small.pb.gz")]];
    const [one, two] = [shared("bugs/go-cpu-1.pb.gz"), shared("bugs/go-cpu-2.pb.gz")];
    if (one && two) pairs.push([one, two]);
    for (const [base, file] of pairs)
        await test(`diff ${base} ${file}`, async () => {
            const page = await open(report(file, base));
            await tab(page, "table");
            const found = (await viewRows(page)).map((r) => [big(r["Base self"]), big(r.Self),
                big(r["Δ self"]), big(r["Base total"]), big(r.Total), big(r["Δ total"]), r.Name]);
            const wanted = exactRows("diff", "-q", "-n", "0", base, file)
                .map((r) => [big(r.self_base), big(r.self_new), big(r.self_delta),
                    big(r.total_base), big(r.total_new), big(r.total_delta), r.name]);
            assert.deepEqual(sorted(found), sorted(wanted));
            await tab(page, "flame");
            assert.ok((await viewRows(page)).length > 1);
            await close(page);
        });
}
