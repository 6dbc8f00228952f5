import { execFile } from "node:child_process"
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"
import pWaitFor from "p-wait-for"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { startServiceProcess } from "../../../scripts/cli/service-process.ts"
import type { ServiceProcess } from "../../../scripts/cli/service-process.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { makeIncompressibleText } from "../../support/media/noise.ts"
import { openKeyedCall } from "./keyed-call.ts"
import type { KeyedCall } from "./keyed-call.ts"
import { startReceiver } from "../receiver.ts"

/** Bytes that the exported statement of a row may take, table and column names included. */
const STATEMENT_BYTES_MAX = 41_000
const SETTINGS = { ALLOWED_PRIVATE_HOSTS: "127.0.0.1", SWEEP_SECONDS: "3600" }
const OUTPUTS = 60
const LINES = 20

const listed = z.looseObject({ completed_at: z.unknown().optional() })
const accepted = z.looseObject({ command_id: z.string() })
const status = z.looseObject({ status: z.string() })

const opened = new AsyncDisposableStack()
let service: ServiceProcess
let origin: string
let stateDir: string
let key: string
let call: KeyedCall
let folder: string
/** Addresses of what is to be there again, each with what it said. */
const shown = new Map<string, unknown>()

beforeAll(async () => {
  folder = opened.use(await makeTempFolder("restore")).path
  const receiver = opened.use(
    await startReceiver((response, _, path) => {
      // A fetch of this page goes on, so that its cookies are kept.
      if (path.startsWith("/hang")) return
      response.writeHead(200, { "content-type": "text/plain" }).end(makeIncompressibleText(2000))
    }),
  )
  stateDir = opened.use(await makeTempFolder("restore-state")).path
  service = await startServiceProcess({ stateDir, settings: SETTINGS, echoesErrors: true })
  opened.use(service)
  origin = service.origin
  key = await service.makeKey(makeIncompressibleText(90, { wide: true }), "paid")
  call = openKeyedCall(service, key)
  await makeLargeRows(receiver.origin)
  for (const path of ["/jobs", "/commands", "/files", "/fetch", "/webhooks/deliveries"]) {
    await show(`${path}?limit=100`)
  }
})

afterAll(async () => await opened.disposeAsync())

async function show(path: string): Promise<unknown> {
  const said: unknown = await (await call(path)).json()
  shown.set(path, said)
  return said
}

async function post(path: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = {
    "content-type": "application/json",
    "idempotency-key": makeIncompressibleText(200, { seed: JSON.stringify(body).length }),
  }
  const answer = await call(path, { method: "POST", headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (answer.status !== 202 && answer.status !== 201 && answer.status !== 200) throw new Error(text)
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text))
}

function metadata(): Record<string, string> {
  const pairs = Array.from({ length: 10 }, (_, seed) => {
    const name = makeIncompressibleText(64, { wide: true, seed: seed + 1 })
    return [name, makeIncompressibleText(500, { wide: true, seed: seed + 99 })] as const
  })
  return Object.fromEntries(pairs)
}

/** A command of a million characters, with as many and as long names of outputs as there may be. */
function largeCommand(origin: string) {
  const keys = Array.from(
    { length: OUTPUTS },
    (_, at) => `out_${at}_${makeIncompressibleText(50, { seed: at + 1 })}`,
  )
  const names = keys.map(
    (_, at) => `${makeIncompressibleText(78, { wide: true, seed: at + 1 })}.wav`,
  )
  const lines = Array.from({ length: LINES }, (_, at) => {
    const own = keys.slice((at * OUTPUTS) / LINES, ((at + 1) * OUTPUTS) / LINES)
    const outputs = own.map(
      (name) => `-metadata comment=${makeIncompressibleText(14_000, { seed: at + 7 })} {{${name}}}`,
    )
    return `ffmpeg -f lavfi -i sine=d=0.01 ${outputs.join(" ")}`
  })
  return {
    ffmpeg_commands: lines,
    input_files: {},
    output_files: Object.fromEntries(keys.map((name, at) => [name, names[at]])),
    metadata: metadata(),
    webhook: `${origin}/${makeIncompressibleText(1900)}`,
  }
}

async function untilOver(path: string): Promise<void> {
  await pWaitFor(
    async () => {
      const { status: now } = status.parse(await (await call(path)).json())
      return /^(?:success|failed)$/.test(now)
    },
    { interval: 200, timeout: 120_000 },
  )
}

/**
 * Rows as large as callers can have the service make, of every table that their requests write to.
 */
async function makeLargeRows(origin: string): Promise<void> {
  const good = accepted.parse(await post("/commands", largeCommand(origin)))
  const bad = accepted.parse(
    await post("/commands", {
      ...largeCommand(origin),
      ffmpeg_commands: [
        `ffmpeg -f lavfi -i sine=d=0.01 -metadata comment=${makeIncompressibleText(50_000)} ${Object.keys(
          largeCommand(origin).output_files,
        )
          .map((name) => `-af asetrate=${makeIncompressibleText(200, { wide: true })} {{${name}}}`)
          .join(" ")}`,
      ],
    }).catch(() => ({ command_id: "" })),
  )
  await post("/files", {
    file_url: `${origin}/${makeIncompressibleText(8000)}`,
    metadata: metadata(),
  })
  // Of another site: this one would refuse a head of that length.
  const cookie = [
    "127.0.0.2",
    "FALSE",
    "/",
    "FALSE",
    "0",
    "session",
    makeIncompressibleText(250_000),
  ].join("\t")
  await post("/fetch", {
    url: `${origin}/hang/${makeIncompressibleText(8000)}`,
    cookies: cookie,
    metadata: metadata(),
  })
  for (const { command_id: id } of [good, bad]) {
    if (id === "") continue
    await untilOver(`/commands/${id}`)
    await show(`/commands/${id}`)
    await show(`/jobs/${id}`)
  }
}

/** Runs wrangler in a folder of its own, where nothing but the name of a database is known. */
async function wrangler(cwd: string, words: string[]): Promise<string> {
  mkdirSync(cwd, { recursive: true })
  writeFileSync(
    join(cwd, "wrangler.toml"),
    '[[d1_databases]]\nbinding = "DB"\ndatabase_name = "lathe"\ndatabase_id = "lathe"\n',
  )
  const program = join(process.cwd(), "node_modules/wrangler/bin/wrangler.js")
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...words], {
    cwd,
    env: {
      ...makeChildEnvironment(),
      HOME: cwd,
      CI: "true",
      WRANGLER_HIDE_BANNER: "true",
      WRANGLER_SEND_METRICS: "false",
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
    },
  })
  return stdout + stderr
}

/** The one database of a folder, which wrangler or a service has. */
function databaseIn(state: string): string {
  const paths = globSync(join(state, "v3/d1/**/*.sqlite"), { exclude: ["**/metadata.sqlite"] })
  const own = paths.find((path) => {
    using database = new DatabaseSync(path, { readOnly: true })
    return database
      .prepare("select 1 from sqlite_master where name = 'made' or name = 'jobs'")
      .get()
  })
  if (own === undefined) throw new Error(`no database is in ${state}`)
  return own
}

function replaceDatabase(path: string, by: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true })
  mkdirSync(dirname(path), { recursive: true })
  using database = new DatabaseSync(by, { readOnly: true })
  database.prepare("vacuum into ?").run(path)
}

test("a database with the largest rows is exported, and restored unchanged", async () => {
  await service[Symbol.asyncDispose]()
  const [from, to] = [join(folder, "from"), join(folder, "to")]
  const begin = ["d1", "execute", "lathe", "--local", "--yes"]
  await wrangler(from, [...begin, "--command", "create table made (id)"])
  replaceDatabase(databaseIn(join(from, ".wrangler/state")), databaseIn(stateDir))
  await wrangler(from, ["d1", "export", "lathe", "--local", "--output", "lathe.sql"])

  const inserts = readFileSync(join(from, "lathe.sql"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("INSERT INTO"))
  const sizes = inserts.map((line) => Buffer.byteLength(line))
  expect(Math.max(...sizes)).toBeLessThanOrEqual(STATEMENT_BYTES_MAX)
  // The rows are large: this is no test of an empty database.
  expect(sizes.filter((bytes) => bytes > STATEMENT_BYTES_MAX / 2).length).toBeGreaterThan(1)

  await wrangler(to, [...begin, "--file", join(from, "lathe.sql")])
  const restored = databaseIn(join(to, ".wrangler/state"))
  expect(countRows(restored)).toEqual(countRows(databaseIn(stateDir)))
  replaceDatabase(databaseIn(stateDir), restored)
  await using again = await startServiceProcess({ stateDir, settings: SETTINGS })
  const ask = openKeyedCall(again, key)
  for (const [path, said] of shown) {
    const now: unknown = await (await ask(path)).json()
    expect([path, ended(now, again.origin)]).toEqual([path, ended(said, origin)])
  }
})

/** How many rows each table has. */
function countRows(path: string): Record<string, unknown> {
  using database = new DatabaseSync(path, { readOnly: true })
  const tables = database
    .prepare(
      "select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'",
    )
    .all()
  return Object.fromEntries(
    tables.map(({ name }) => {
      return [String(name), database.prepare(`select count(*) as n from "${String(name)}"`).get()]
    }),
  )
}

/** An answer without its origin, and of a list without jobs that are open: these go on at once. */
function ended(value: unknown, of: string): unknown {
  const same: unknown = JSON.parse(JSON.stringify(value).replaceAll(of, "https://x"))
  if (!Array.isArray(same)) return same
  return z
    .array(listed)
    .parse(same)
    .filter((each) => each.completed_at !== null)
}
