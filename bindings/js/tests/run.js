/* run.js - run all tests of the npm package; the last line is "N passed, N failed" */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
let passed = 0, failed = 0;
for (const name of readdirSync(here).filter((file) => /^test_.*\.js$/.test(file)).sort()) {
    const done = spawnSync(process.execPath, [join(here, name)], { encoding: "utf8" });
    const count = (word) =>
        Number(new RegExp(`^(?:#|ℹ) ${word} (\\d+)$`, "m").exec(done.stdout)?.[1]);
    const counts = [count("pass"), count("fail")];
    if (done.status !== 0 || !counts[0] || counts[1])
        console.log(`== ${name}\n${done.stdout}${done.stderr}`);
    passed += counts[0] || 0;
    failed += counts[1] || (done.status !== 0 || !counts[0] ? 1 : 0);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
