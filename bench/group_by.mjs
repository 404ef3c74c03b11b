// group_by.mjs - group-by function in DuckDB, the peer of bench/cases/group.py
//
//     node group_by.mjs NODE_MODULES SAMPLES.csv STACKS.csv FOLDER REPEATS
//
// SAMPLES.csv: stack and value of each sample; STACKS.csv: stack, name of its innermost function. Loads both into
// tables and the samples also into a Parquet file in FOLDER, then runs the query REPEATS times. Prints a line of JSON
// for each source: {"what", "ms": median, "rows", "total"}, or {"what", "missing"}.
import { createRequire } from "node:module";
import { unlinkSync } from "node:fs";
import { join } from "node:path";

const [modules, samples, stacks, folder, repeats] = process.argv.slice(2);
const parquet = join(folder, "group.parquet");
const question = (table) =>
  `SELECT name, sum(value) AS self FROM ${table} s JOIN stacks k ON s.stack = k.stack GROUP BY name`;

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
const say = (row) => console.log(JSON.stringify(row));

async function timed(what, ask) {
  const taken = [];
  let rows;
  for (let i = 0; i <= Number(repeats); i++) {
    const start = performance.now();
    rows = await ask();
    if (i) taken.push(performance.now() - start); // the first warms up
  }
  const total = rows.reduce((sum, row) => sum + BigInt(row.self), 0n);
  say({ what, ms: median(taken), rows: rows.length, total: Number(total) });
}

async function duckdb() {
  const { DuckDBInstance } = createRequire(join(modules, "x.js"))("@duckdb/node-api");
  const db = await (await DuckDBInstance.create(":memory:")).connect();
  const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjects();
  await db.run(`CREATE TABLE stacks AS SELECT * FROM read_csv('${stacks}', columns={'stack': 'UINTEGER', 'name': 'VARCHAR'})`);
  await db.run(`CREATE TABLE samples AS SELECT * FROM read_csv('${samples}', columns={'stack': 'UINTEGER', 'value': 'BIGINT'})`);
  await db.run(`COPY samples TO '${parquet}' (FORMAT parquet)`);
  await timed("duckdb on parquet", () => rows(question(`'${parquet}'`)));
  await timed("duckdb in memory", () => rows(question("samples")));
  unlinkSync(parquet);
}

try {
  await duckdb();
} catch (reason) {
  say({ what: "duckdb", missing: String(reason.message ?? reason).split("\n")[0] });
}
