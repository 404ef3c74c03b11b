// sql_duckdb.mjs - the extension of DuckDB against DuckDB on Parquet, the peer of bench/cases/sql.py
//
//     node sql_duckdb.mjs NODE_MODULES EXTENSION FILE.pcol FOLDER REPEATS [QUESTION...]
//
// Writes the samples of FILE, and the function of each stack, into Parquet files in FOLDER. Then runs each question in REPEATS turns
// with its peer, on one thread; all questions, or those asked. Prints a line of JSON for each: {"what", "ours", "peer": median CPU ms}. The peer of
// names with ".table" is a table of DuckDB in memory: its share of the CPU time is DuckDB's own, and that of this client.
import { createRequire } from "node:module";
import { unlinkSync } from "node:fs";
import { join } from "node:path";

const [modules, extension, file, folder, repeats, ...asked] = process.argv.slice(2);
const samples = join(folder, "sql-samples.parquet");
const stacks = join(folder, "sql-stacks.parquet");
const { DuckDBInstance } = createRequire(join(modules, "x.js"))("@duckdb/node-api");
const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true" });
const db = await instance.connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRows();
const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

await db.run(`LOAD '${extension}'`);
await db.run("SET threads = 1");
const [[type]] = await rows(`SELECT type FROM pcol_scan('${file}', 'sample_types') LIMIT 1`);
const ours = `read_pcol('${file}'`;
await db.run(`COPY (SELECT stack_id, time, "${type}" AS value FROM ${ours})) TO '${samples}' (FORMAT parquet)`);
await db.run(`COPY (SELECT stack_id, function::VARCHAR AS name FROM pcol_stacks('${file}')) TO '${stacks}' (FORMAT parquet)`);
await db.run(`CREATE TABLE own AS SELECT stack_id, "${type}" AS value FROM ${ours})`);
await db.run(`CREATE TABLE own_top AS SELECT name, self FROM pcol_top('${file}')`);
const [[first, last]] = await rows(`SELECT min(time), max(time) FROM '${samples}'`);
const a = first + (last - first) * 0.4, b = first + (last - first) * 0.5;
const value = `sum("${type}")`, order = "ORDER BY ALL";
const join_names = `SELECT name, sum(value) FROM '${samples}' JOIN '${stacks}' USING (stack_id) GROUP BY name ${order}`;

const questions = {
  sum: [`SELECT ${value} FROM ${ours})`, `SELECT sum(value) FROM '${samples}'`],
  stack: [`SELECT count(*), max(v) FROM (SELECT stack_id, ${value} AS v FROM ${ours}) GROUP BY stack_id)`,
    `SELECT count(*), max(v) FROM (SELECT stack_id, sum(value) AS v FROM '${samples}' GROUP BY stack_id)`],
  time: [`SELECT ${value}, count(*) FROM ${ours}, time_from := ${a}, time_to := ${b})`,
    `SELECT sum(value), count(*) FROM '${samples}' WHERE time >= ${a} AND time < ${b}`],
  function: [`SELECT function::VARCHAR AS name, ${value} FROM ${ours}) GROUP BY function ${order}`, join_names],
  top: [`SELECT name, self FROM pcol_top('${file}') WHERE self <> 0 ${order}`, join_names],
};
questions["stack.table"] = [questions.stack[0], questions.stack[1].replace(`'${samples}'`, "own")];
questions["top.table"] = [questions.top[0], `SELECT name, self FROM own_top WHERE self <> 0 ${order}`];

// Mean of several executions, as harness.py runs short commands: the first also pays for memory that the peer's query released.
const OFTEN = 5;

async function spent(sql) {
  let answer;
  const before = process.cpuUsage();
  for (let i = 0; i < OFTEN; i++) answer = await rows(sql);
  const used = process.cpuUsage(before);
  return [(used.user + used.system) / 1000 / OFTEN, JSON.stringify(answer, (_, v) => typeof v === "bigint" ? String(v) : v)];
}

for (const [what, [mine, theirs]] of Object.entries(questions)) {
  if (asked.length && !asked.includes(what)) continue;
  const taken = [[], []];
  try {
    for (let i = 0; i <= Number(repeats); i++) {
      const [x, y] = [await spent(mine), await spent(theirs)];
      if (x[1] !== y[1]) throw new Error(`the answers differ: ${x[1].slice(0, 80)} and ${y[1].slice(0, 80)}`);
      if (i) [x, y].forEach((result, k) => taken[k].push(result[0])); // the first warms up
    }
    console.log(JSON.stringify({ what, ours: median(taken[0]), peer: median(taken[1]) }));
  } catch (reason) {
    console.log(JSON.stringify({ what, missing: String(reason.message ?? reason).split("\n")[0] }));
  }
}
unlinkSync(samples);
unlinkSync(stacks);
