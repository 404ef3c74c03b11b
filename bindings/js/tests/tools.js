/* tools.js - paths, the command, and sample profiles for the tests */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const SRC = join(dirname(fileURLToPath(import.meta.url)), "../../..");
export const DATA = join(SRC, "tests/data");
const built = process.env.PCOL_JS ?? join(SRC, "build/js");
export const PACKAGE = join(built, "pcol");
export const DROP = join(built, "drop.html");
export const folder = mkdtempSync(join(tmpdir(), "pcol-js-"));
process.on("exit", () => rmSync(folder, { recursive: true }));

/* Exports of the instance that the package makes: the tests look at its memory. */
export let exports = null;
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...args) => {
    const made = await instantiate(...args);
    exports = made.exports;
    return made;
};
export const pcol = await import(pathToFileURL(join(PACKAGE, "pcol.js")));

/* The exit code and output of the command, which runs in tests/data. */
export function run(...args) {
    const program = process.env.PCOL ?? join(SRC, "build/pcol");
    const done = spawnSync(program, args, { cwd: DATA, maxBuffer: 1 << 30 });
    return { code: done.status, stdout: done.stdout, stderr: done.stderr.toString() };
}

/* Rows of an answer of the command; null if it failed. */
export function rows(...args) {
    const { code, stdout } = run(...args, "--format", "ndjson");
    const lines = stdout.toString().split("\n").filter(Boolean);
    return code ? null : lines.map((line) => JSON.parse(line));
}

/* Profiles of tests/data, by paths below it. */
export const SAMPLES = readdirSync(DATA, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => readdirSync(join(DATA, entry.name)).map((name) => `${entry.name}/${name}`))
    .filter((name) => statSync(join(DATA, name)).isFile() && !/\.(md|py|sh|go|R|c|js)$/.test(name))
    .sort();
export const path = (name) => join(DATA, name);
