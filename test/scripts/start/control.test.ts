import { DatabaseSync } from "node:sqlite"
import type { SQLInputValue } from "node:sqlite"
import { beforeEach, describe, expect, test, vi } from "vitest"
import {
  makeMigrateAndSweepEntrypoint,
  removeNullBindings,
} from "../../../scripts/start/worker/control.ts"

let sqlite: DatabaseSync
const scheduled = vi.fn<(controller: { scheduledTime: number }) => Promise<void>>()

/** The used part of D1, on SQLite. */
const DB = {
  exec: (sql: string) => Promise.resolve(sqlite.exec(sql)),
  prepare: (sql: string) => statement(sql, []),
  async batch(statements: { all(): Promise<unknown> }[]) {
    sqlite.exec("begin")
    try {
      for (const each of statements) await each.all()
      sqlite.exec("commit")
    } catch (error) {
      sqlite.exec("rollback")
      throw error
    }
  },
}

function statement(sql: string, values: SQLInputValue[]) {
  return {
    bind: (...bound: unknown[]) => statement(sql, bound.map(String)),
    all: () => Promise.resolve().then(() => ({ results: sqlite.prepare(sql).all(...values) })),
  }
}

async function ask(path: string, body = "", env: object = {}): Promise<[number, string]> {
  const request = new Request(`http://control${path}`, { method: "POST", body })
  const answer = await makeMigrateAndSweepEntrypoint({ scheduled }, () => undefined).fetch(
    request,
    { ...env, DB },
    null,
  )
  return [answer.status, await answer.text()]
}

const first = { name: "1.sql", statements: ["create table a (b)", "insert into a values (1)"] }
const second = { name: "2.sql", statements: ["insert into a values (2)", "no sql"] }

beforeEach(() => {
  sqlite = new DatabaseSync(":memory:")
  sqlite.exec("create table accounts (database integer)")
  scheduled.mockReset().mockResolvedValue()
})

describe("the entrypoint for the start script", () => {
  test("applies each migration once, and no part of a failed one", async () => {
    expect(await ask("/migrate", JSON.stringify([first]))).toEqual([204, ""])
    expect(await ask("/migrate", JSON.stringify([first]))).toEqual([204, ""])
    const [status, said] = await ask("/migrate", JSON.stringify([first, second]))
    expect([status, said]).toEqual([500, expect.stringContaining("syntax error")])
    expect(sqlite.prepare("select b from a").all()).toEqual([{ b: 1 }])
    expect(sqlite.prepare("select name from d1_migrations").all()).toEqual([{ name: "1.sql" }])
  })

  test("refuses fewer databases than accounts use, and more than exist", async () => {
    const body = JSON.stringify([first])
    sqlite.exec("insert into accounts values (1), (2)")
    expect(await ask("/migrate", body, { DATABASES: "2", DB_2: DB })).toEqual([204, ""])
    expect((await ask("/migrate", body))[1]).toContain("DATABASES is 1, and accounts are in")
    expect((await ask("/migrate", body, { DATABASES: "2" }))[1]).toContain("has 1 at most")
  })

  test("runs the sweep of the cron, and reports its failure", async () => {
    expect(await ask("/sweep")).toEqual([204, ""])
    expect(scheduled.mock.calls[0]?.[0].scheduledTime).toBeGreaterThan(0)
    expect(await ask("/sweep", "1700000000000")).toEqual([204, ""])
    const atStart = { cron: "@reboot", scheduledTime: 1_700_000_000_000 }
    expect(scheduled.mock.lastCall?.[0]).toMatchObject(atStart)
    scheduled.mockRejectedValue(new Error("no room"))
    expect(await ask("/sweep")).toEqual([500, "Error: no room"])
  })

  test("returns 404 for any other path", async () => {
    expect(await ask("/v1/health")).toEqual([404, ""])
    expect(scheduled).not.toHaveBeenCalled()
  })
})

test("a setting that is not set is absent, as it is on Cloudflare", () => {
  const env = { LOG_LEVEL: "debug", PUBLIC_ORIGIN: null, DB: {} }
  removeNullBindings(env)
  expect(Object.keys(env)).toEqual(["LOG_LEVEL", "DB"])
})
