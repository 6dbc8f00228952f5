import { env } from "cloudflare:workers"
import { afterEach, expect, it, vi } from "vitest"
import { findDatabaseDegradedReasons, warnOfDatabaseSize } from "../../src/upkeep/database-size.ts"
import { readLargestDatabaseBytes } from "../../src/db/service-counts.ts"

afterEach(() => void vi.restoreAllMocks())

/** Returns an environment whose database is filled to this share. */
async function filledTo(share: number) {
  const bytes = (await readLargestDatabaseBytes(env)) ?? 0
  expect(bytes).toBeGreaterThan(0)
  return { ...env, DATABASE_BYTES_MAX: String(Math.round(bytes / share)) }
}

async function warningsOf(share: number): Promise<string[]> {
  const lines: string[] = []
  vi.spyOn(console, "warn").mockImplementation((line) => void lines.push(String(line)))
  await warnOfDatabaseSize(await filledTo(share))
  return lines.filter((line) => line.includes("database.filling"))
}

it("a database close to D1's limit degrades the health and is logged", async () => {
  expect(await findDatabaseDegradedReasons(await filledTo(0.81))).toEqual(["database_filling"])
  expect(await warningsOf(0.81)).toEqual([expect.stringContaining('"bytes_max":')])
})

it("a smaller database does neither", async () => {
  expect(await findDatabaseDegradedReasons(await filledTo(0.79))).toEqual([])
  expect(await findDatabaseDegradedReasons(env)).toEqual([])
  expect(await warningsOf(0.79)).toEqual([])
})

it("the size is read once a minute for any number of readers", async () => {
  const filled = await filledTo(0.9)
  const prepare = vi.spyOn(env.DB, "prepare")
  await findDatabaseDegradedReasons(filled)
  await findDatabaseDegradedReasons(filled)
  expect(prepare.mock.calls.length).toBe(1)
})

it("a database that does not respond adds no reason", async () => {
  const DB = new Proxy(env.DB, {
    get: () => () => {
      throw new Error("the database does not answer")
    },
  })
  expect(await findDatabaseDegradedReasons({ ...env, DB })).toEqual([])
})
