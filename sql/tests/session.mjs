// session.mjs MODULES EXTENSION - answers lines of JSON {connection, sql, interrupt} with lines {rows, names, types} or {error}
//
// Requests of several connections run at the same time; an answer has the id of its request.
import { createInterface } from 'readline'
import { createRequire } from 'module'

const [modules, extension] = process.argv.slice(2)
const { DuckDBInstance } = createRequire(modules + '/')('@duckdb/node-api')
const instance = await DuckDBInstance.create(':memory:', { allow_unsigned_extensions: 'true' })
const connections = new Map()
const running = new Set()

async function connection (name) {
  if (!connections.has(name)) connections.set(name, instance.connect())
  return connections.get(name)
}

// Old versions have another name for it, or leave it to the garbage collector.
const close = (c) => (c.closeSync ?? c.disconnectSync)?.call(c)

const show = (value) => value === null ? null : typeof value === 'number' ? value : String(value)

async function answer (request) {
  try {
    const c = await connection(request.connection)
    if (request.interrupt !== undefined) setTimeout(() => c.interrupt(), request.interrupt)
    if (request.close) {
      close(c)
      connections.delete(request.connection)
      return {}
    }
    const reader = await c.runAndReadAll(request.sql)
    return { names: reader.columnNames(), types: reader.columnTypes().map(String), rows: reader.getRows().map((r) => r.map(show)) }
  } catch (reason) {
    return { error: reason.message }
  }
}

await (await connection('main')).run(`LOAD '${extension}'`)
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  const answered = answer(request).then((a) => console.log(JSON.stringify({ id: request.id, ...a }))).finally(() => running.delete(answered))
  running.add(answered)
}
await Promise.all(running)
for (const c of connections.values()) close(await c)
close(instance)
process.exit() // without waiting for the garbage collector, which begins after 8 s
