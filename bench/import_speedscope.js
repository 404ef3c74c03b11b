// Time of speedscope's own import: node import_speedscope.js PACKAGE FILE NAME [TURNS]
// PACKAGE: the installed npm package; NAME: of the file for the reader, which goes by suffixes.
// The package's bundle keeps the reader to itself and expects a browser: it runs here with objects
// in place of the browser's that accept everything, until its interface fails; the reader is ready
// by then. Prints the median of CPU seconds, of the reader alone; one turn if it takes seconds.
const fs = require("fs"), path = require("path"), vm = require("vm");
const [folder, file, name, turns] = process.argv.slice(2);
const release = path.join(folder, "dist/release");
const script = fs.readdirSync(release).find((entry) => /^speedscope-.*\.js$/.test(entry));
const bundle = fs.readFileSync(path.join(release, script), "utf8");
const module_ = /return\(await (\w+)\)\.importProfilesFromArrayBuffer\(/.exec(bundle)[1];
const anything = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => "" : key === "then" ? undefined : anything),
  apply: () => anything,
  construct: () => anything,
  set: () => true,
});
for (const global of ["window", "document", "navigator", "location", "localStorage", "Image", "self"])
  Object.defineProperty(globalThis, global, { value: anything, configurable: true, writable: true });
const { log } = console;
console.log = console.warn = () => {};
try {
  vm.runInThisContext(bundle.replace("(()=>{", `(()=>{globalThis.reader=()=>${module_};`));
} catch {
  // The interface: nothing is drawn here.
}

async function main() {
  const reader = await globalThis.reader();
  const bytes = fs.readFileSync(file), seconds = [];
  for (let i = 0; i < Number(turns ?? 3); i++) {
    const before = process.cpuUsage();
    const group = await reader.importProfilesFromArrayBuffer(name, new Uint8Array(bytes).buffer);
    const used = process.cpuUsage(before);
    if (!group || !group.profiles.length) process.exit(1);
    seconds.push((used.user + used.system) / 1e6);
    if (seconds[0] > 2) break;
  }
  log(seconds.sort((a, b) => a - b)[seconds.length >> 1]);
}
main().catch(() => process.exit(1));
