// Time of Node's JSON.parse for a file that is in memory as text: node parse_json.js FILE [TURNS]
// Prints the medians of CPU time and wall time in seconds. TURNS 0: parse once, without measuring.
const fs = require("fs");
const text = fs.readFileSync(process.argv[2], "utf8");
const turns = Number(process.argv[3] ?? 5);
const cpu = [], wall = [];
if (!turns) JSON.parse(text);
for (let i = 0; i < turns; i++) {
  const before = process.cpuUsage(), started = process.hrtime.bigint();
  JSON.parse(text);
  wall.push(Number(process.hrtime.bigint() - started) / 1e9);
  const used = process.cpuUsage(before);
  cpu.push((used.user + used.system) / 1e6);
}
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
if (turns) console.log(median(cpu), median(wall));
