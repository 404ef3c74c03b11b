/* test_answers.js - answers, tables and bytes are those of the command */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SAMPLES, folder, path, pcol, rows, run } from "./tools.js";

/* Names that are not UTF-8 are bytes here, and escaped by the command: they are not compared. */
const shown = (text) => typeof text === "string" ? text : text === null ? "" : text.length;

/* JSON.parse() of the command's answers has no integers beyond 2^53. */
const rounded = (amount) => typeof amount === "bigint" ? Number(amount) : amount;

function amounts(table, ...names) {
    return table.rows().map((row) => names.map((name) => rounded(row[name])));
}

async function each(work) {
    let count = 0;
    for (const name of SAMPLES) {
        let profile;
        try {
            profile = await pcol.open(path(name), { name });
        } catch (error) {
            assert.ok(error instanceof pcol.PcolError, `${name}: ${error.stack}`);
            assert.notEqual(run("top", name).code, 0, `${name}: ${error.message}`);
            continue;
        }
        count += await work(name, profile) ? 1 : 0;
        profile.close();
    }
    return count;
}

test("top is that of the command, for every sample profile", async () => {
    const compared = await each((name, profile) => {
        const expected = rows("top", name);
        if (!expected) {
            assert.throws(() => profile.top(), pcol.PcolError, name);
            return false;
        }
        const table = profile.top();
        assert.deepEqual(amounts(table, "self", "total"), expected.map((r) => [r.self, r.total]),
            name);
        const names = table.rows().map((row) => shown(row.name));
        assert.deepEqual(names.filter((text) => typeof text === "string"),
            expected.map((r) => r.name).filter((_, i) => typeof names[i] === "string"), name);
        return true;
    });
    assert.ok(compared > 50, `only ${compared} profiles`);
});

test("labelKeys() are those of the command", async () => {
    let found = 0;
    const compared = await each((name, profile) => {
        const lines = rows("labels", name);
        if (!lines)
            return false;
        const expected = [...new Set(lines.map((row) => row.key))].sort();
        assert.deepEqual(profile.labelKeys().sort(), expected, name);
        found += expected.length;
        return true;
    });
    assert.ok(compared > 50 && found > 10, `${compared} profiles, ${found} keys`);
});

test("top by all kinds of rows, and selections", async () => {
    const profile = await pcol.open(path("pprof/cpu.pb.gz"));
    for (const by of ["file", "line", "srcline", "location", "mapping", "source"])
        assert.deepEqual(amounts(profile.top({ by, order: "total" }), "self", "total"),
            rows("top", "pprof/cpu.pb.gz", "--by", by, "--sort", "total")
                .map((r) => [r.self, r.total]), by);
    for (const [option, value] of [["focus", "runtime"], ["ignore", "runtime"], ["hide", "^main"],
        ["show", "main"], ["sampleType", "cpu/nanoseconds"]])
        assert.deepEqual(amounts(profile.top({ [option]: value }), "self", "total"),
            rows("top", "pprof/cpu.pb.gz",
                option === "sampleType" ? "--sample-type" : `--${option}`, value).map((r) => [r.self, r.total]), option);
    profile.close();
});

test("tree, bottom-up tree and depth", async () => {
    const name = "rprof/demo.Rprof", profile = await pcol.open(path(name));
    for (const [options, flags] of [[{}, []], [{ bottomUp: true, depth: 4 }, ["--bottom-up",
        "--depth", "4"]], [{ by: "file" }, ["--by", "file"]]]) {
        const nodes = profile.tree(options).rows().slice(1); // the command omits the root
        assert.deepEqual(nodes.map((n) => [n.depth, n.self, n.total, n.name]),
            rows("tree", name, ...flags).map((n) => [n.depth, n.self, n.total, n.name]));
    }
    profile.close();
});

test("peek", async () => {
    const profile = await pcol.open(path("rprof/demo.Rprof"));
    const result = profile.peek("sub").rows();
    assert.deepEqual(result.map((r) => [r.relation, r.self, r.total, r.name]),
        rows("peek", "sub", "rprof/demo.Rprof").map((r) => [r.relation, r.self, r.total, r.name]));
    assert.equal(profile.peek("no such function").length, 0);
    profile.close();
});

test("diff", async () => {
    const names = ["rprof/plain.Rprof", "rprof/demo.Rprof"];
    const [base, other] = await Promise.all(names.map((name) => pcol.open(path(name))));
    for (const [options, flags] of [[{}, []], [{ normalize: true }, ["--normalize"]]]) {
        const result = other.diff(base, options);
        const lines = rows("diff", ...names, "-n", "0", ...flags);
        const expected = new Map(lines.map((r) => [r.name, r]));
        assert.equal(result.length, expected.size);
        for (const row of result)
            for (const column of ["self_delta", "total_delta", "self_base", "total_new"])
                if (column in expected.get(row.name))
                    assert.equal(Number(row[column]), expected.get(row.name)[column], column);
    }
    base.close();
    assert.throws(() => other.diff(base), { status: "E_STATE" });
    other.close();
});

test("flame is that of the command", async () => {
    const profile = await pcol.open(path("rprof/demo.Rprof"));
    const svg = profile.flame({ title: "demo" });
    assert.equal(svg, run("flame", "rprof/demo.Rprof", "--title", "demo").stdout.toString());
    profile.close();
});

test("tables of v2 and v1, cell by cell", async () => {
    let cells = 0;
    for (const name of ["rprof/demo.Rprof", "pprof/cpu.pb.gz", "firefox/mini.json.gz"]
        .filter((n) => SAMPLES.includes(n))) {
        const profile = await pcol.open(path(name), { name });
        for (const model of ["v2", "v1"])
            for (const table of profile.tables(model)) {
                const expected = rows("cat", name, "-t", table, "--model", model);
                const got = profile.table(table, { model });
                assert.equal(got.length, expected.length, `${name} ${table}`);
                for (const [key, column] of got.columns)
                    for (let i = 0; i < got.length; i++, cells++)
                        compare(column, i, expected[i][key],
                            `${name} ${model} ${table}.${key} ${i}`);
            }
        profile.close();
    }
    assert.ok(cells > 10000);
});

function compare(column, row, expected, place) {
    let value = column.at(row);
    if (typeof value === "bigint") // JSON.parse() rounds, too
        value = Number(value);
    if (column.unit === "ns" && typeof expected === "number" && !column.name.endsWith("_ns"))
        value /= 1e6; // the command shows milliseconds
    if (column.type === "list")
        value = Array.from(value, Number);
    assert.deepEqual(value, expected ?? null, place);
}

test("columns have the documented arrays", async () => {
    const profile = await pcol.open(path("rprof/demo.Rprof"));
    const values = profile.table("sample_values", { columns: ["value", "type"] });
    assert.deepEqual([...values.columns.keys()].sort(), ["type", "value"]);
    assert.ok(values.get("value") instanceof BigInt64Array);
    const physical = profile.table("samples", { model: "physical" });
    assert.ok(physical.get("stack") instanceof Uint32Array);
    assert.throws(() => profile.table("samples", { columns: ["no"] }), { status: "E_NOT_FOUND" });
    assert.throws(() => profile.table("no"), { status: "E_NOT_FOUND" });
    assert.throws(() => profile.tables("v3"), { status: "E_ARGUMENT" });
    profile.close();
});

test("unpack gives the bytes of the command, in every format", async () => {
    const formats = (await pcol.formats()).filter((format) => format.writes);
    let equal = 0;
    for (const name of ["rprof/demo.Rprof", "pprof/cpu.pb.gz"]) {
        const profile = await pcol.open(path(name), { name });
        for (const { name: format } of formats) {
            const expected = run("unpack", name, "--to", format);
            if (expected.code) {
                assert.throws(() => profile.unpack(format), pcol.PcolError, format);
                continue;
            }
            const bytes = Buffer.from(profile.unpack(format));
            assert.deepEqual(bytes, expected.stdout, `${name} ${format}`);
            equal++;
        }
        profile.close();
    }
    assert.ok(equal >= 12, `only ${equal}`);
});

test("pack gives the bytes of the command, for every sample profile", async () => {
    let equal = 0;
    const options = [[{}, []], [{ archive: true }, ["--archive"]], [{ plain: true }, ["--plain"]]];
    for (const [number, name] of SAMPLES.entries()) {
        const [option, flags] = options[number % 3], output = `${folder}/${number}.pcol`;
        if (run("pack", name, "-o", output, ...flags).code) {
            await assert.rejects(pcol.pack(path(name), { name, ...option }), pcol.PcolError, name);
            continue;
        }
        const packed = await pcol.pack(path(name), { name, ...option });
        assert.ok(readFileSync(output).equals(packed), `${name} ${flags}`);
        equal++;
    }
    assert.ok(equal > 50, `only ${equal}`);
});

test("pack of an open profile keeps its tables", async () => {
    const profile = await pcol.open(path("rprof/demo.Rprof"), { name: "demo.Rprof" });
    const again = await pcol.open(profile.pack({ archive: true }));
    assert.equal(again.isArchive, true);
    assert.equal(again.isImported, false);
    assert.deepEqual(again.table("samples").rows(), profile.table("samples").rows());
    assert.deepEqual(again.top().rows(5), profile.top().rows(5));
    profile.close();
    again.close();
});
