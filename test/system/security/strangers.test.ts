import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import pWaitFor from "p-wait-for"
import { afterAll, beforeAll, expect, it } from "vitest"
import { makeUnauthenticatedRequests } from "../../support/accounts/unauthenticated-requests.ts"
import { withRows } from "../../browser/users.ts"
import { collectLines } from "../operate/log-lines.ts"
import type { Printed } from "../operate/log-lines.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const REQUESTS = 1000
const ROWS_MAX = 10
const STATE_BYTES_MAX = 500_000
const LINE_CHARACTERS_MAX = 2_000

let service: TestService
let printed: Printed

beforeAll(async () => {
  service = await startService({
    RUNNER_CAPACITY: "1",
    SIGN_IN_PROVIDERS: JSON.stringify({ github: { clientId: "x", clientSecret: "of-github" } }),
  })
  printed = collectLines(service)
})

afterAll(async () => await service[Symbol.asyncDispose]())

/** Rows of all tables of D1. */
function countRows(): number {
  return withRows(service.stateDir, (database) => {
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
    const names = tables.map(({ name }) => String(name)).filter((name) => !name.startsWith("_cf"))
    return sum(
      names.map((name) => {
        const row = database.prepare(`select count(*) as n from "${name}"`).get()
        return Number(row?.["n"])
      }),
    )
  })
}

/**
 * Files of rows, objects and media with their bytes, by their paths; not those of a log that is
 * under way, and not the five that pools of runners have, whoever asks.
 */
function measureState(): Map<string, number> {
  const root = join(service.stateDir, "v3")
  const names = readdirSync(root, { recursive: true, encoding: "utf8" })
  const kept = names.filter((name) => !/-(?:wal|shm|journal)$|\bPool\//.test(name))
  const files = kept.map((name) => [name, statSync(join(root, name))] as const)
  return new Map(files.flatMap(([name, file]) => (file.isFile() ? [[name, file.size]] : [])))
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0)
}

it("requests without a key or a session leave few bytes, and no errors in the log", async () => {
  const { origin } = service
  const before = { rows: countRows(), state: measureState(), lines: printed.lines.length }
  const email = "nobody@people.test"
  let lastId = ""
  for (const { path, init } of makeUnauthenticatedRequests(REQUESTS, { origin, email })) {
    const answer = await fetch(origin + path, init)
    await answer.arrayBuffer()
    expect([path, answer.status < 500]).toEqual([path, true])
    lastId = answer.headers.get("x-request-id") ?? lastId
  }
  await pWaitFor(() => printed.lines.some((line) => line.includes(lastId)))
  const state = measureState()
  expect(countRows() - before.rows).toBeLessThanOrEqual(ROWS_MAX)
  expect([...state.keys()].filter((name) => !before.state.has(name))).toEqual([])
  expect(sum(state.values()) - sum(before.state.values())).toBeLessThan(STATE_BYTES_MAX)
  const added = printed.lines.slice(before.lines)
  expect(added.filter((line) => /"level":"(?:error|warn)"/.test(line))).toEqual([])
  expect(Math.max(...added.map((line) => line.length))).toBeLessThan(LINE_CHARACTERS_MAX)
})
