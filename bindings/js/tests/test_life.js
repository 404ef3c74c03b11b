/* test_life.js - errors, damaged and hostile input, memory, and the contents of the package */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { DROP, PACKAGE, SAMPLES, exports, folder, path, pcol, run } from "./tools.js";

const demo = readFileSync(path("rprof/demo.Rprof"));

test("errors have status, message and place", async () => {
    await assert.rejects(pcol.open(new Uint8Array(3)), { name: "PcolError", status: "E_FORMAT" });
    await assert.rejects(pcol.open("/no/such/file"), { status: "E_IO" });
    await assert.rejects(pcol.open(7), { status: "E_ARGUMENT" });
    await assert.rejects(pcol.open(demo, { from: "no" }), { status: "E_NOT_FOUND" });
    await assert.rejects(pcol.open(demo, { name: "a\0b" }), { status: "E_ARGUMENT" });
    for (const options of [{ lenient: "no" }, { from: 1 }, { maxInput: "1e9" }, { maxInput: -1 }, { trust: true }])
        await assert.rejects(pcol.open(demo, options), { status: "E_ARGUMENT" });
    await assert.rejects(pcol.open(demo, { maxInput: 100 }), { status: "E_LIMIT" });
    await assert.rejects(pcol.open(Buffer.from("main;f x\n"), { from: "folded" }),
        (error) => error.status === "E_SYNTAX" && /^1:/.test(error.place));
    const profile = await pcol.open(demo);
    for (const [call, status] of [[() => profile.top({ focus: "(" }), "E_ARGUMENT"],
        [() => profile.top({ by: "shape" }), "E_ARGUMENT"],
        [() => profile.top({ order: "size" }), "E_ARGUMENT"],
        [() => profile.top({ sampleType: "no" }), "E_ARGUMENT"],
        [() => profile.unpack("no"), "E_NOT_FOUND"],
        [() => profile.unpack("folded", { compress: "xz" }), "E_ARGUMENT"],
        [() => profile.unpack("folded", { compress: "toString" }), "E_ARGUMENT"],
        [() => profile.unpack("folded", { source: "1" }), "E_ARGUMENT"],
        [() => profile.unpack("folded", { source: 1.5 }), "E_ARGUMENT"],
        [() => profile.unpack(null), "E_ARGUMENT"],
        [() => profile.top({ sampletype: "samples" }), "E_ARGUMENT"],
        [() => profile.top({ sampleType: 0 }), "E_ARGUMENT"],
        [() => profile.top({ labels: "k=v" }), "E_ARGUMENT"],
        [() => profile.top({ labels: [null] }), "E_ARGUMENT"],
        [() => profile.top({ labels: ["k=v\0w"] }), "E_ARGUMENT"],
        [() => profile.top({ time: [5] }), "E_ARGUMENT"],
        [() => profile.top({ time: [undefined, 5] }), "E_ARGUMENT"],
        [() => profile.top({ time: [NaN, 5] }), "E_ARGUMENT"],
        [() => profile.top({ keepDropped: 0 }), "E_ARGUMENT"],
        [() => profile.tree({ bottomUp: "no" }), "E_ARGUMENT"],
        [() => profile.tree({ depth: -1 }), "E_ARGUMENT"],
        [() => profile.tree({ depth: 2 ** 32 }), "E_ARGUMENT"],
        [() => profile.flame({ width: "wide" }), "E_ARGUMENT"],
        [() => profile.flame({ base: {} }), "E_ARGUMENT"],
        [() => profile.flame({ title: "a\0b" }), "E_ARGUMENT"],
        [() => profile.diff(null), "E_ARGUMENT"],
        [() => profile.peek(undefined), "E_ARGUMENT"],
        [() => profile.table("samples\0x"), "E_ARGUMENT"],
        [() => profile.table("samples", { columns: "id" }), "E_ARGUMENT"],
        [() => profile.pack({ plain: 1 }), "E_ARGUMENT"],
        [() => profile.check("deep"), "E_ARGUMENT"]])
        assert.throws(call, { status });
    profile.close();
    profile.close();
    assert.throws(() => profile.top(), { status: "E_STATE" });
});

test("notes of queries reach the caller", async () => {
    const profile = await pcol.open(new TextEncoder().encode("main;work 3\n"), { from: "folded" });
    const base = await pcol.open(new TextEncoder().encode("other 1\n"), { from: "folded" });
    const texts = (ask) => {
        const notices = [];
        ask({ onNotice: (notice) => notices.push(notice) });
        assert.ok(notices.every((notice) => notice.code === "selection"));
        return notices.map((notice) => notice.text);
    };
    assert.deepEqual(texts((o) => profile.top({ focus: "zzz", ...o })), ["focus matches no frame"]);
    assert.deepEqual(texts((o) => profile.top({ ignore: ".", ...o })), ["no sample passes the selection"]);
    assert.deepEqual(texts((o) => profile.diff(base, { focus: "work", ...o })),
        ["focus matches no frame"]);
    assert.deepEqual(texts((o) => profile.tree({ focus: "work", ...o })), []);
    profile.close();
    base.close();
});

test("notices of losses reach the caller", async () => {
    const profile = await pcol.open(path("pprof/cpu.pb.gz"));
    const notices = [];
    profile.unpack("folded", { onNotice: (notice) => notices.push(notice) });
    assert.ok(notices.some((notice) => notice.code === "loss" && notice.format === "folded" &&
        notice.subject && notice.text.includes(notice.subject)), JSON.stringify(notices));
    profile.close();
});

test("input as bytes, buffers and blobs", async () => {
    const view = new Uint8Array(demo.length + 9);
    view.set(demo, 5);
    for (const input of [demo, new Uint8Array(demo).buffer, new Blob([demo]),
        new DataView(view.buffer, 5, demo.length)]) {
        const profile = await pcol.open(input);
        assert.equal(profile.top().total, 1878);
        profile.close();
    }
});

test("check finds the faults that the command finds", async () => {
    const packed = await pcol.pack(demo);
    assert.deepEqual(await pcol.check(packed, "strict"), { faults: 0, list: [] });
    assert.equal((await pcol.check(demo)).faults, 0);
    await assert.rejects(pcol.check(packed.subarray(3)), { status: "E_FORMAT" });
    let found = 0;
    for (let at = 200; at < packed.length; at += 997) {
        const damaged = packed.slice(), name = join(folder, "damaged.pcol");
        damaged[at] ^= 0x10;
        writeFileSync(name, damaged);
        let code;
        try {
            const { faults, list } = await pcol.check(damaged);
            assert.equal(list.filter((fault) => !fault.isNote).length, faults);
            code = faults ? 1 : 0;
        } catch (error) {
            assert.ok(error instanceof pcol.PcolError && error.status !== "E_STATE");
            code = 3;
        }
        assert.equal(run("check", name).code, code, `byte ${at}`);
        found += code ? 1 : 0;
    }
    assert.ok(found > 10, `found ${found}`);
});

/* A generator with a fixed seed (mulberry32). */
function randomNumbers(seed) {
    return () => {
        seed = (seed + 0x6d2b79f5) | 0;
        let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
}

test("damaged profiles are errors or answers, and the instance survives", async () => {
    const random = randomNumbers(21), statuses = new Set();
    for (const name of SAMPLES) {
        const bytes = readFileSync(path(name));
        if (bytes.length > 100000)
            continue;
        for (let round = 0; round < 12; round++) {
            let copy = new Uint8Array(bytes);
            for (let i = 0; i < 1 + round; i++)
                copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
            if (round % 3 === 0)
                copy = copy.subarray(0, Math.floor(random() * copy.length));
            try {
                const profile = await pcol.open(copy, { name });
                try {
                    profile.top();
                    profile.tree({ depth: 20 });
                    profile.unpack("pprof");
                    for (const table of profile.tables())
                        profile.table(table);
                } finally {
                    profile.close();
                }
            } catch (error) {
                assert.ok(error instanceof pcol.PcolError, `${name}: ${error.stack}`);
                assert.notEqual(error.status, "E_STATE", `${name}: ${error.message}`);
                statuses.add(error.status);
            }
        }
    }
    assert.ok(statuses.size > 3, [...statuses].join());
});

test("memory does not grow over 1000 opens", async () => {
    const use = async () => {
        const profile = await pcol.open(demo);
        profile.top();
        profile.close();
    };
    for (let i = 0; i < 20; i++)
        await use();
    const before = exports.memory.buffer.byteLength;
    for (let i = 0; i < 1000; i++)
        await use();
    assert.equal(exports.memory.buffer.byteLength, before);
});

test("memory of profiles that are not closed is released by the garbage collector", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc"), sizes = [];
    for (let round = 0; round < 12; round++) {
        for (let i = 0; i < 40; i++)
            (await pcol.open(demo)).top();
        for (let i = 0; i < 3; i++) {
            collect();
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
        sizes.push(exports.memory.buffer.byteLength);
    }
    assert.equal(sizes.at(-1), sizes[5], sizes.join());
});

test("a module that fails loses its profiles, and the next open() works", async () => {
    const profile = await pcol.open(demo);
    await pcol.init(readFileSync(join(PACKAGE, "pcol.wasm")));
    assert.throws(() => profile.top(), { status: "E_STATE" });
    profile.close();
    const again = await pcol.open(demo);
    assert.equal(again.top().total, 1878);
    again.close();
});

test("formats and version are those of the command", async () => {
    const lines = run("formats", "--format", "ndjson").stdout.toString().trim().split("\n");
    const names = lines.map((line) => JSON.parse(line).format ?? JSON.parse(line).name);
    assert.deepEqual((await pcol.formats()).map((format) => format.name),
        names.filter((name) => name !== "clickhouse")); // which the command writes by itself
    assert.ok(run("--version").stdout.toString().includes(await pcol.version()));
});

test("the package is complete, and its types name what it exports", async () => {
    const described = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
    assert.equal(described.version, await pcol.version());
    assert.equal(described.dependencies, undefined);
    for (const file of described.files)
        assert.ok(existsSync(join(PACKAGE, file)), file);
    const types = readFileSync(join(PACKAGE, "pcol.d.ts"), "utf8");
    const declared = [...types.matchAll(/^export (?:class|function) (\w+)/gm)].map((m) => m[1]);
    assert.deepEqual(declared.sort(), Object.keys(pcol).sort());
    for (const name of ["Profile", "Table", "Column"]) {
        const body = new RegExp(`export class ${name}.*?\\n}`, "s").exec(types)[0];
        for (const method of Object.getOwnPropertyNames(pcol[name].prototype))
            assert.ok(method === "constructor" || body.includes(method), `${name}.${method}`);
    }
});

test("the page needs nothing but itself, and allows only its own scripts", () => {
    const page = readFileSync(DROP, "utf8");
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)[1];
    assert.match(policy, /^default-src 'none';/);
    assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|https?:|connect-src/);
    for (const [, kind, body] of page.matchAll(/<(script|style)[^>]*>(.*?)<\/\1>/gs))
        assert.ok(policy.includes(`'sha256-${createHash("sha256").update(body).digest("base64")}'`),
            kind);
    assert.doesNotMatch(page, /innerHTML|document\.write|\bsrc=|<link|onclick=/);
});
