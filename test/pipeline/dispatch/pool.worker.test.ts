import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { nextRequestNumber } from "../../../src/contract/slot-allocation.ts"
import { Pool } from "../../../src/pipeline/dispatch/pool.ts"
import type { SlotRequest } from "../../../src/rpc.ts"
import { openSlotTables } from "../../../src/storage/slot-allocations.ts"

const SLOTS = ["media-0", "media-1"]

let pool: ReturnType<typeof env.POOL.getByName>
let number = 0

beforeEach(() => {
  pool = env.POOL.getByName(crypto.randomUUID())
})

function request(accountId: string, requested: Partial<SlotRequest> = {}) {
  number += 1
  const nothing = { wanted: 0, inUse: [], released: [] }
  return pool.requestSlots("media", { accountId, number, ...nothing, ...requested })
}

function ids(allocations: { id: number }[] | null): number[] {
  return (allocations ?? []).map((allocation) => allocation.id)
}

describe("the pool", () => {
  it("allocates as many slots as are wanted and there, each once", async () => {
    const allocations = await request("a", { wanted: 5 })
    expect(allocations?.map((allocation) => allocation.slot)).toEqual(SLOTS)
    expect(new Set(ids(allocations)).size).toBe(2)
    expect(await request("b", { wanted: 1 })).toEqual([])
  })

  it("answers the same allocations to a request whose answer was lost", async () => {
    const first = await request("a", { wanted: 2 })
    expect(await request("a", { wanted: 2 })).toEqual(first)
  })

  it("ignores a request that comes late", async () => {
    await request("a", { wanted: 1 })
    expect(await request("a", { number: 1, wanted: 9 })).toBeNull()
  })

  it("frees what is released, and allocates the same slot under a higher number", async () => {
    const [first = 0] = ids(await request("a", { wanted: 1 }))
    expect(await request("a", { released: [first] })).toEqual([])
    const [second = 0] = ids(await request("a", { wanted: 1 }))
    expect(second).toBeGreaterThan(first)
  })

  it("counts on from now where a clock that was days ahead has been put right", async () => {
    const [now, later] = [Date.now(), Date.now() + 30 * 24 * 3600 * 1000]
    const [first = 0, second = 0] = ids(await request("a", { wanted: 2 }))
    await runInDurableObject(pool, (_, { storage: { sql } }) => {
      sql.exec("update grants set id = ? where id = ?", later, first)
      sql.exec("update slots set last_grant = ? where last_grant = ?", later, first)
      sql.exec("update askers set turn = ?", later)
    })
    const [third = 0] = ids(
      await request("a", { wanted: 1, inUse: [second], released: [later] }),
    ).slice(-1)
    expect(third).toBeGreaterThan(second)
    expect(third).toBeLessThan(now + 60_000)
  })

  it("answers requests again whose numbers an hour ahead have been put right", async () => {
    const later = Date.now() + 3600 * 1000
    expect(await request("a", { number: later, wanted: 1 })).toHaveLength(1)
    expect(await request("a", { number: nextRequestNumber(later, Date.now()) })).toEqual([])
    const now = nextRequestNumber(0, Date.now())
    expect(await request("a", { number: now + 1, wanted: 1 })).toHaveLength(1)
    expect(await request("a", { number: now, wanted: 1 })).toBeNull()
  })

  it("wakes a holder that it heard from in an hour, by a clock that was ahead", async () => {
    await request("a", { wanted: 1 })
    const silent = await runInDurableObject(pool, (_, { storage: { sql } }) => {
      sql.exec("update askers set heard_at = ?", Date.now() + 3600 * 1000)
      return openSlotTables(sql).silentRequesters(0, Date.now())
    })
    expect(silent).toEqual(["a"])
  })

  it("lets nobody wait for a turn that a clock days ahead gave", async () => {
    const later = Date.now() + 30 * 24 * 3600 * 1000
    const [first = 0, second = 0] = ids(await request("a", { wanted: 2 }))
    await request("b", { wanted: 1 })
    await runInDurableObject(pool, (_, { storage: { sql } }) => {
      sql.exec("update askers set turn = ? where account_id = 'b'", later)
    })
    await request("b", { wanted: 1 })
    expect(await request("a", { wanted: 2, inUse: [second], released: [first] })).toHaveLength(1)
    expect(await request("b", { wanted: 1 })).toHaveLength(1)
  })

  it("lets nobody wait since a moment that a clock days ahead told", async () => {
    await request("a", { wanted: 2 })
    await request("b", { wanted: 1 })
    await runInDurableObject(pool, (_, { storage: { sql } }) => {
      sql.exec("update waits set since = ?", Date.now() + 30 * 24 * 3600 * 1000)
    })
    await request("b", { wanted: 1 })
    const b = await runInDurableObject(pool, (_, { storage: { sql } }) =>
      openSlotTables(sql).requester("b"),
    )
    expect(b?.waitingSince).toBeLessThanOrEqual(Date.now())
  })

  it("takes back idle slots that are no longer wanted", async () => {
    const [used = 0] = ids(await request("a", { wanted: 2 }))
    expect(ids(await request("a", { wanted: 0, inUse: [used] }))).toEqual([used])
    expect(await request("b", { wanted: 1 })).toHaveLength(1)
  })

  it("frees nothing that is another account's", async () => {
    const [theirs = 0] = ids(await request("a", { wanted: 1 }))
    await request("b", { released: [theirs] })
    expect(ids(await request("a", { inUse: [theirs] }))).toEqual([theirs])
  })

  it("gives the next free slot to whoever had none for longest", async () => {
    const flood = ids(await request("flood", { wanted: 1000 }))
    await request("one", { wanted: 1 })
    await request("two", { wanted: 1 })
    const [first = 0, second = 0] = flood
    const rest = ids(await request("flood", { wanted: 1000, inUse: [second], released: [first] }))
    expect(rest).toEqual([second])
    expect(await request("one", { wanted: 1 })).toHaveLength(1)
    expect(await request("flood", { wanted: 1000, released: [second] })).toEqual([])
    expect(await request("two", { wanted: 1 })).toHaveLength(1)
  })

  it("gives the next free slot to whoever holds none, though it had one last", async () => {
    const [first = 0] = ids(await request("holder", { wanted: 1 }))
    const [theirs = 0] = ids(await request("one", { wanted: 1 }))
    await request("one", { released: [theirs] })
    const [others = 0] = ids(await request("other", { wanted: 1 }))
    await request("holder", { wanted: 1, inUse: [first] })
    await request("one", { wanted: 1 })
    await request("other", { released: [others] })
    expect(ids(await request("holder", { wanted: 1, inUse: [first] }))).toEqual([first])
    expect(await request("one", { wanted: 1 })).toHaveLength(1)
  })

  it("gives an account no more than its share while others want some", async () => {
    const answers = await runInDurableObject(pool, async (_, ctx) => {
      const three = new Pool(ctx, { ...env, RUNNER_CAPACITY: "3" })
      async function ask(accountId: string, requested: Partial<SlotRequest>): Promise<number[]> {
        number += 1
        const nothing = { wanted: 0, inUse: [], released: [], slotsShareMax: 0.5 }
        const asked = { accountId, number, ...nothing, ...requested }
        return ids(await three.requestSlots("media", asked))
      }
      const mine = await ask("a", { wanted: 1 })
      const [kept = 0, other = 0] = await ask("b", { wanted: 2 })
      await ask("a", { wanted: 1, inUse: mine })
      const inUse = [kept]
      return [
        await ask("b", { wanted: 1, inUse, released: [other] }),
        await ask("a", { wanted: 1, inUse: mine }),
        await ask("b", { inUse }),
        await ask("a", { wanted: 1, inUse: mine }),
      ]
    })
    expect(answers.map(({ length }) => length)).toEqual([1, 1, 1, 2])
  })
})
