import { writeFile } from "node:fs/promises"
import { request } from "node:http"
import { join } from "node:path"
import { json } from "node:stream/consumers"
import { Miniflare, convertV4MiniflareOptions, serializeConfig } from "miniflare"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { bundleD1Modules, replaceMiniflareD1 } from "../../../scripts/build/d1.ts"
import { findWorkerdProgram } from "../../../scripts/build/find-workerd.ts"
import { captureMiniflareConfig } from "../../../scripts/build/runtime.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { startWorkerd } from "../../../scripts/start/workerd.ts"

// Behaviour of D1, both of Miniflare's and of that of `npm start`.

/** Runs the expression that it is given, of which `db` is the binding; says what came of it. */
const WORKER = `export default {
  async fetch(request, { DB: db }) {
    const cases = {
      async raw({ sql, values }) { return await db.prepare(sql).bind(...values).raw() },
      async named({ sql }) { return await db.prepare(sql).raw({ columnNames: true }) },
      async first({ sql, column }) { return await db.prepare(sql).first(column) },
      async all({ sql, values }) { return (await db.prepare(sql).bind(...values).all()).results },
      async changes({ sql, values }) { return (await db.prepare(sql).bind(...values).run()).meta.changes },
      async size() { return (await db.prepare("select 1").run()).meta.size_after },
      async batch({ statements }) {
        const all = await db.batch(statements.map((sql) => db.prepare(sql)))
        return all.map(({ results, success, meta }) => ({ results, success, changes: meta.changes }))
      },
      async session({ sql }) {
        await db.prepare("create table if not exists sessions (a)").run()
        await db.prepare("insert into sessions values (7)").run()
        const session = db.withSession("first-unconstrained")
        const bound = session.prepare("select a, ? as b from sessions").bind("x")
        const [{ results }] = await session.batch([session.prepare(sql)])
        return { raw: await bound.raw(), results }
      },
      async exec({ sql }) { return (await db.exec(sql)).count },
      async together({ times }) {
        const add = db.prepare("update counters set value = value + 1 returning value")
        const all = await Promise.all(Array.from({ length: times }, () => add.first("value")))
        return all.toSorted((a, b) => a - b)
      },
      async batches({ batches }) {
        const all = batches.map((each) => db.batch(each.map((sql) => db.prepare(sql))))
        return (await Promise.allSettled(all)).map(({ status }) => status)
      },
      async odd() {
        const bound = db.prepare("select ? as yes, ? as bytes, ? as part, ? as list, ? as none, ? as infinite")
        const part = new Uint8Array([0, 1, 2, 3]).subarray(1, 3)
        return await bound.bind(true, new Uint8Array([1, 255]).buffer, part, [7, 8], null, Infinity).first()
      },
      async unfit() { return await db.prepare("select ?").bind(undefined).first() },
    }
    const { name, ...given } = await request.json()
    try {
      return Response.json({ value: await cases[name](given) })
    } catch (error) {
      return Response.json({ error: error.message, cause: error.cause?.message })
    }
  },
}`

type Ask = (name: string, given?: object) => Promise<unknown>

const opened = new AsyncDisposableStack()

const OPTIONS = {
  cf: false,
  telemetry: { enabled: false },
  workers: [
    {
      name: "asking",
      compatibilityDate: "2026-10-01",
      d1Databases: ["DB"],
      modules: [{ type: "ESModule", path: "index.js", contents: WORKER }],
    },
  ],
} satisfies Parameters<typeof convertV4MiniflareOptions>[0]

const service = z.looseObject({
  name: z.string(),
  worker: z.looseObject({ bindings: z.array(z.unknown()) }).optional(),
})
const adapted = z.looseObject({ services: z.array(service), extensions: z.array(z.unknown()) })
const MAIN = "core:user:asking"

async function startMiniflare(): Promise<Ask> {
  const miniflare = new Miniflare(convertV4MiniflareOptions(OPTIONS))
  opened.defer(async () => await miniflare.dispose())
  await miniflare.ready
  return async (name, given) => {
    const body = JSON.stringify({ name, ...given })
    const answer = await miniflare.dispatchFetch("http://asking/", { method: "POST", body })
    return await answer.json()
  }
}

async function startOwn(): Promise<Ask> {
  const { path: folder } = opened.use(await makeTempFolder("d1"))
  const captured = await captureMiniflareConfig(folder, {
    ...OPTIONS,
    resourcePersistencePath: folder,
  })
  const { services, extensions } = adapted.parse(
    replaceMiniflareD1(captured, await bundleD1Modules()),
  )
  const used = services.filter(({ name }) => [MAIN, "d1:db", "d1:storage"].includes(name))
  const none = { globalOutbound: undefined, cacheApiOutbound: undefined, tails: undefined }
  const config = {
    services: [
      ...used.map((each) => {
        return each.worker ? { ...each, worker: { ...each.worker, ...none } } : each
      }),
      { name: "internet", network: { allow: [] } },
    ],
    extensions,
    sockets: [{ name: "worker", service: { name: MAIN }, http: {} }],
  }
  const path = join(folder, "config.bin")
  await writeFile(
    path,
    serializeConfig(z.custom<Parameters<typeof serializeConfig>[0]>().parse(config)),
  )
  const socketPath = join(folder, "socket")
  opened.use(
    await startWorkerd({
      program: findWorkerdProgram(),
      words: ["--binary", "--experimental", `--socket-addr=worker=unix:${socketPath}`, path],
      environment: {},
      sockets: { worker: socketPath },
      descriptors: {},
      onRestart: () => undefined,
    }),
  )
  return (name, given) => {
    return new Promise((resolve, reject) => {
      const outgoing = request({ socketPath, method: "POST", headers: { host: "asking" } })
      outgoing.on("error", reject)
      outgoing.on("response", (answer) => resolve(json(answer)))
      outgoing.end(JSON.stringify({ name, ...given }))
    })
  }
}

afterAll(async () => await opened.disposeAsync())

describe.each([
  ["Miniflare", startMiniflare],
  ["npm start", startOwn],
])("the D1 of %s", (_, start) => {
  let ask: Ask

  beforeAll(async () => {
    ask = await start()
    await ask("batch", {
      statements: [
        "create table films (id integer primary key, name text unique not null, bytes blob)",
        "create table counters (value integer not null)",
        "create table notes (film integer not null)",
        "create trigger noted after insert on films begin insert into notes values (new.id); end",
        "insert into counters values (0)",
      ],
    })
  }, 60_000)

  test("returns rows as values, as objects and by column", async () => {
    const sql = "select ? as a, ? as b"
    expect(await ask("raw", { sql, values: [1, "x"] })).toEqual({ value: [[1, "x"]] })
    expect(await ask("all", { sql, values: [null, 2.5] })).toEqual({ value: [{ a: null, b: 2.5 }] })
    const named = await ask("named", { sql: "select 1 as a, 2 as a" })
    expect(named).toEqual({
      value: [
        ["a", "a"],
        [1, 2],
      ],
    })
    expect(await ask("first", { sql: "select 3 as a" })).toEqual({ value: { a: 3 } })
    expect(await ask("first", { sql: "select 3 as a", column: "a" })).toEqual({ value: 3 })
    expect(await ask("first", { sql: "select 1 where 0" })).toEqual({ value: null })
    const absent = await ask("first", { sql: "select 3 as a", column: "b" })
    expect(absent).toMatchObject({ error: "D1_COLUMN_NOTFOUND: Column not found (b)" })
    expect(await ask("exec", { sql: "select 1;\nselect 2;" })).toEqual({ value: 2 })
    expect(await ask("size")).toEqual({ value: expect.any(Number) })
  })

  test("rolls back only the failed ones of simultaneous batches", async () => {
    function add(name: string): string {
      return `insert into films (name) values ('${name}')`
    }
    const batches = [[add("t1")], [add("t2"), add("t1")], [add("t3")], [add("t3")], [add("t4")]]
    const value = ["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"]
    expect(await ask("batches", { batches })).toEqual({ value })
    const sql = "select name from films where name like 't%' order by name"
    expect(await ask("raw", { sql, values: [] })).toEqual({ value: [["t1"], ["t3"], ["t4"]] })
    await ask("exec", { sql: "delete from films where name like 't%'" })
  })

  test("accepts the values that D1 accepts", async () => {
    const value = {
      yes: 1,
      bytes: [1, 255],
      part: [1, 2],
      list: [7, 8],
      none: null,
      infinite: null,
    }
    expect(await ask("odd")).toEqual({ value })
    const error = "D1_TYPE_ERROR: Type 'undefined' not supported"
    expect(await ask("unfit")).toMatchObject({ error: expect.stringContaining(error) })
    const long = "€".repeat(100_000)
    expect(await ask("raw", { sql: "select ?", values: [long] })).toEqual({ value: [[long]] })
  })

  test("counts what a statement and its triggers changed", async () => {
    const insert = "insert into films (name) values (?), (?)"
    expect(await ask("changes", { sql: insert, values: ["a", "b"] })).toEqual({ value: 4 })
    expect(await ask("changes", { sql: "select * from films", values: [] })).toEqual({ value: 0 })
    const update = "update films set bytes = null where name = ?"
    expect(await ask("changes", { sql: update, values: ["a"] })).toEqual({ value: 1 })
    expect(await ask("changes", { sql: update, values: ["none"] })).toEqual({ value: 0 })
  })

  test("applies a batch completely or not at all, with the cause", async () => {
    const statements = [
      "insert into films (name) values ('c')",
      "select name from films where name = 'c'",
      "insert into films (name) values ('c')",
    ]
    const message = "UNIQUE constraint failed: films.name: SQLITE_CONSTRAINT"
    expect(await ask("batch", { statements })).toEqual({
      error: expect.stringContaining(`D1_ERROR: ${message}`),
      cause: expect.stringContaining(message),
    })
    const count = "select count(*) as n from films where name = 'c'"
    expect(await ask("first", { sql: count, column: "n" })).toEqual({ value: 0 })
    expect(await ask("batch", { statements: statements.slice(0, 2) })).toEqual({
      value: [
        { results: [], success: true, changes: 2 },
        { results: [{ name: "c" }], success: true, changes: 0 },
      ],
    })
  })

  test("applies a statement with many rows completely or not at all, with its triggers", async () => {
    const notes = { sql: "select count(*) as n from notes", column: "n" }
    const before = await ask("first", notes)
    const sql = "insert into films (name) values ('d'), ('e'), ('d')"
    expect(await ask("changes", { sql, values: [] })).toMatchObject({
      error: expect.stringContaining("UNIQUE constraint failed: films.name"),
    })
    const count = "select count(*) as n from films where name in ('d', 'e')"
    expect(await ask("first", { sql: count, column: "n" })).toEqual({ value: 0 })
    expect(await ask("first", notes)).toEqual(before)
    const one = "insert into films (name) values (?)"
    expect(await ask("changes", { sql: one, values: ["d"] })).toEqual({ value: 2 })
  })

  test("reports an invalid statement, and continues", async () => {
    const wrong = await ask("first", { sql: "select no such" })
    expect(wrong).toMatchObject({ error: expect.stringMatching(/^D1_ERROR: .*no such column/) })
    const syntax = await ask("first", { sql: "selct 1" })
    expect(syntax).toMatchObject({ error: expect.stringMatching(/^D1_ERROR: .*syntax error/) })
    const empty = await ask("first", { sql: "" })
    expect(empty).toMatchObject({ error: expect.stringContaining("D1_ERROR: ") })
    expect(await ask("first", { sql: "select 1 as a" })).toEqual({ value: { a: 1 } })
  })

  test("has sessions that read their writes", async () => {
    expect(await ask("session", { sql: "select max(a) as a from sessions" })).toEqual({
      value: { raw: [[7, "x"]], results: [{ a: 7 }] },
    })
  })

  test("runs one batch at a time", async () => {
    const values = Array.from({ length: 50 }, (_each, index) => index + 1)
    expect(await ask("together", { times: 50 })).toEqual({ value: values })
  })
})
