import { env } from "cloudflare:workers"
import { afterEach, expect, it, vi } from "vitest"
import { judgeDatabase, tellOfDatabase } from "../../../src/pipeline/upkeep/database-size.ts"
import { databaseBytes } from "../../../src/storage/service-counts.ts"

afterEach(() => void vi.restoreAllMocks())

/** The environment with a database that has this share of what it may have. */
async function filledTo(share: number) {
  const bytes = (await databaseBytes(env)) ?? 0
  expect(bytes).toBeGreaterThan(0)
  return { ...env, DATABASE_BYTES_MAX: String(Math.round(bytes / share)) }
}

async function warningsOf(share: number): Promise<string[]> {
  const lines: string[] = []
  vi.spyOn(console, "warn").mockImplementation((line) => void lines.push(String(line)))
  await tellOfDatabase(await filledTo(share))
  return lines.filter((line) => line.includes("database.filling"))
}

it("a database near to what D1 takes is a reason of the health, and warned of", async () => {
  expect(await judgeDatabase(await filledTo(0.81))).toEqual(["database_filling"])
  expect(await warningsOf(0.81)).toEqual([expect.stringContaining('"bytes_max":')])
})

it("a smaller one is not", async () => {
  expect(await judgeDatabase(await filledTo(0.79))).toEqual([])
  expect(await judgeDatabase(env)).toEqual([])
  expect(await warningsOf(0.79)).toEqual([])
})

it("is asked once a minute, whoever reads the health", async () => {
  const filled = await filledTo(0.9)
  const prepare = vi.spyOn(env.DB, "prepare")
  await judgeDatabase(filled)
  await judgeDatabase(filled)
  expect(prepare.mock.calls.length).toBe(1)
})

it("that does not answer is no reason of its own", async () => {
  const DB = new Proxy(env.DB, {
    get: () => () => {
      throw new Error("the database does not answer")
    },
  })
  expect(await judgeDatabase({ ...env, DB })).toEqual([])
})
