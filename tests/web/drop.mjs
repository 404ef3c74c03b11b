/*
 * drop.mjs - the page of the npm package, on which any profile is dropped
 *
 * DROP: the page (make js); empty: skipped.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { PCOL, WORK, axeSource, close, data, open, rows, skipped, test } from "./harness.mjs";

const start = async () => {
    const page = await open(process.env.DROP, { ready: false });
    await page.waitForFunction(() => document.getElementById("message").textContent === "");
    return page;
};

/* Drop bytes on the page, as a file manager does. */
async function drop(page, name, bytes) {
    const transfer = await page.evaluateHandle(([text, title]) => {
        const binary = atob(text), given = new DataTransfer();
        given.items.add(new File([Uint8Array.from(binary, (c) => c.charCodeAt(0))], title));
        return given;
    }, [bytes.toString("base64"), name]);
    await page.dispatchEvent("#area", "dragover", { dataTransfer: transfer });
    await page.dispatchEvent("#area", "drop", { dataTransfer: transfer });
    await idle(page);
}

const idle = (page) => page.waitForFunction(() =>
    !/^Reading/.test(document.getElementById("message").textContent));

/* Rows of the table: self, total, name. */
const shown = (page) => page.evaluate(() => Array.from(document.querySelectorAll("#rows tr"),
    (line) => [0, 2, 4].map((i) => line.cells[i].textContent.replace(/,/g, ""))));

/* Doubles are shown with six digits, names with their files. */
const wanted = (...args) => rows("top", "-q", "-n", "0", ...args).map((r) =>
    [r.self, r.total].map((x) => (Number.isInteger(x) ? String(x) : x.toPrecision(6)))
        .concat(r.name.replace(/,/g, "")));

async function formats() {
    const page = await start();
    for (const name of ["pprof/cpu.pb.gz", "rprof/demo.Rprof", "perf/three.txt", "firefox/small.json",
        "folded/example.folded", "jfr/small.jfr", "tachyon/small.tach",
        "cpuprofile/small.cpuprofile", "dhat/small.dhat"]) {
        await drop(page, path.basename(name), readFileSync(data(name)));
        const found = (await shown(page)).map((r) => [r[0], r[1], r[2].replace(/ \([^()]*\)$/, "")]);
        const list = wanted(data(name)), plain = (row) => row.join(" ").replace(/ \([^()]*\)$/, "");
        assert.deepEqual(found.map(plain).sort(), list.map(plain).sort(), name);
        assert.match(await page.textContent("#caption"), new RegExp("^" + path.basename(name)));
    }
    await close(page);
}

async function controls() {
    const page = await start(), file = data("pprof/heap.pb.gz");
    await page.setInputFiles("#file", file);
    await idle(page);
    for (const type of ["alloc_objects/count", "inuse_space/bytes"]) {
        await page.selectOption("#type", type);
        await page.selectOption("#by", "mapping");
        await page.selectOption("#order", "total");
        const list = wanted("--sample-type", type, "--by", "mapping", "--sort", "total", file);
        assert.deepEqual(await shown(page), list, type);
        await page.selectOption("#by", "function");
    }
    await page.fill("#focus", "main\\.");
    await page.press("#focus", "Tab");
    const list = wanted("--sample-type", "inuse_space/bytes", "--focus", "main\\.", file);
    assert.equal((await shown(page)).length, list.length);
    await page.fill("#focus", "(");
    await page.press("#focus", "Tab");
    assert.ok(await page.getAttribute("#message", "class") === "error");
    await close(page);
}

async function converts() {
    const page = await start(), file = data("rprof/demo.Rprof");
    await page.setInputFiles("#file", file);
    await idle(page);
    for (const format of ["speedscope", "pprof"]) {
        await page.selectOption("#format", format);
        const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
        const to = path.join(WORK, saved.suggestedFilename());
        await saved.saveAs(to);
        assert.match(path.basename(to), /^demo\./);
        const top = (name) => execFileSync(PCOL, ["top", "-q", "-n", "0", "--format", "tsv", name],
            { encoding: "utf8" });
        const native = path.join(WORK, `native.${format}`);
        execFileSync(PCOL, ["unpack", "-q", "-f", "--to", format, file, "-o", native]);
        assert.equal(top(to), top(native), format);
        assert.ok(top(to).split("\n").length > 100);
    }
    await close(page);
}

async function bad() {
    const page = await start();
    for (const [name, bytes] of [["empty.pb", Buffer.alloc(0)], ["<img src=x>.json", Buffer.from("{")],
        ["cut.pb.gz", readFileSync(data("pprof/cpu.pb.gz")).subarray(0, 3000)]]) {
        await drop(page, name, bytes);
        assert.ok((await page.textContent("#message")).startsWith(name), name);
        assert.equal(await page.getAttribute("#message", "class"), "error");
    }
    assert.equal(await page.locator("#message img").count(), 0);
    const script = "main;<script>alert(1)</script>;\"x\" onload=y 5\n";
    await drop(page, "hostile.folded", Buffer.from(script));
    assert.ok((await shown(page)).some((row) => row[2] === "<script>alert(1)</script>"));
    await page.evaluate(axeSource);
    const found = await page.evaluate(async () => (await window.axe.run()).violations
        .map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" | ")}`));
    assert.deepEqual(found, []);
    await page.screenshot({ path: path.join(WORK, "drop.png") });
    await close(page);
}

export async function drops() {
    if (!process.env.DROP) {
        skipped.push("web/drop.html, the compiler for WebAssembly is missing (scripts/deps web)");
        return;
    }
    for (const [name, action] of Object.entries({ formats, controls, converts, bad }))
        await test(`drop ${name}`, action);
}
