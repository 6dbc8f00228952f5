import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import type { Ask } from "../../src/pipeline/pool.ts"

const SLOTS = ["local-0", "local-1"]

let pool: ReturnType<typeof env.POOL.getByName>
let number = 0

beforeEach(() => {
  pool = env.POOL.getByName(crypto.randomUUID())
})

function ask(accountId: string, asked: Partial<Ask> = {}) {
  number += 1
  return pool.ask({ accountId, ask: number, want: 0, using: [], done: [], ...asked })
}

function ids(grants: { id: number }[] | null): number[] {
  return (grants ?? []).map((grant) => grant.id)
}

describe("the pool", () => {
  it("gives as many slots as are wanted and there, each once", async () => {
    const grants = await ask("a", { want: 5 })
    expect(grants?.map((grant) => grant.slot)).toEqual(SLOTS)
    expect(new Set(ids(grants)).size).toBe(2)
    expect(await ask("b", { want: 1 })).toEqual([])
  })

  it("answers the same grants to an ask whose answer was lost", async () => {
    const first = await ask("a", { want: 2 })
    expect(await ask("a", { want: 2 })).toEqual(first)
  })

  it("ignores an ask that comes late", async () => {
    await ask("a", { want: 1 })
    expect(await pool.ask({ accountId: "a", ask: 1, want: 9, using: [], done: [] })).toBeNull()
  })

  it("frees what is done, and gives the same slot a higher number", async () => {
    const [first = 0] = ids(await ask("a", { want: 1 }))
    expect(await ask("a", { done: [first] })).toEqual([])
    const [second = 0] = ids(await ask("a", { want: 1 }))
    expect(second).toBeGreaterThan(first)
  })

  it("counts on from now where a clock that was days ahead has been put right", async () => {
    const [now, later] = [Date.now(), Date.now() + 30 * 24 * 3600 * 1000]
    const [first = 0, second = 0] = ids(await ask("a", { want: 2 }))
    await runInDurableObject(pool, (_, { storage: { sql } }) => {
      sql.exec("update grants set id = ? where id = ?", later, first)
      sql.exec("update slots set last_grant = ? where last_grant = ?", later, first)
      sql.exec("update askers set turn = ?", later)
    })
    const [third = 0] = ids(await ask("a", { want: 1, using: [second], done: [later] })).slice(-1)
    expect(third).toBeGreaterThan(second)
    expect(third).toBeLessThan(now + 60_000)
  })

  it("lets nobody wait for a turn that a clock days ahead gave", async () => {
    const later = Date.now() + 30 * 24 * 3600 * 1000
    const [first = 0, second = 0] = ids(await ask("a", { want: 2 }))
    await ask("b", { want: 1 })
    await runInDurableObject(pool, (_, { storage: { sql } }) => {
      sql.exec("update askers set turn = ? where account_id = 'b'", later)
    })
    await ask("b", { want: 1 })
    expect(await ask("a", { want: 2, using: [second], done: [first] })).toHaveLength(1)
    expect(await ask("b", { want: 1 })).toHaveLength(1)
  })

  it("takes back idle slots that are no longer wanted", async () => {
    const [used = 0] = ids(await ask("a", { want: 2 }))
    expect(ids(await ask("a", { want: 0, using: [used] }))).toEqual([used])
    expect(await ask("b", { want: 1 })).toHaveLength(1)
  })

  it("frees nothing that is another account's", async () => {
    const [theirs = 0] = ids(await ask("a", { want: 1 }))
    await ask("b", { done: [theirs] })
    expect(ids(await ask("a", { using: [theirs] }))).toEqual([theirs])
  })

  it("gives the next free slot to whoever had none for longest", async () => {
    const flood = ids(await ask("flood", { want: 1000 }))
    await ask("one", { want: 1 })
    await ask("two", { want: 1 })
    const [first = 0, second = 0] = flood
    const rest = ids(await ask("flood", { want: 1000, using: [second], done: [first] }))
    expect(rest).toEqual([second])
    expect(await ask("one", { want: 1 })).toHaveLength(1)
    expect(await ask("flood", { want: 1000, done: [second] })).toEqual([])
    expect(await ask("two", { want: 1 })).toHaveLength(1)
  })
})
