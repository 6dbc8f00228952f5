import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it, vi } from "vitest"
import { computeNextSlotRequestNumber } from "../../src/contract/slot-allocation.ts"
import { Pool } from "../../src/scheduler/pool.ts"
import type { SlotRequest } from "../../src/bindings/rpc.ts"
import { makeContainerEnv } from "../support/runner/containers.ts"

const SLOTS = ["media-0", "media-1"]
const DAY_MS = 24 * 3600 * 1000

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

/** Runs work while the clock is ahead. */
async function atClock<Value>(aheadMs: number, work: () => Promise<Value>): Promise<Value> {
  const now = Date.now.bind(Date)
  const clock = vi.spyOn(Date, "now").mockImplementation(() => now() + aheadMs)
  try {
    return await work()
  } finally {
    clock.mockRestore()
  }
}

/** Returns the written start of an account's wait; undefined if it does not wait. */
async function waitsSince(accountId: string): Promise<number | undefined> {
  const query = "select waiting_since as since from waiting_accounts where account_id = ?"
  return await runInDurableObject(pool, (_, { storage: { sql } }) => {
    return sql.exec<{ since: number }>(query, accountId).toArray()[0]?.since
  })
}

describe("the pool", () => {
  it("allocates as many slots as are requested and free, each once", async () => {
    const allocations = await request("a", { wanted: 5 })
    expect(allocations?.map((allocation) => allocation.slot)).toEqual(SLOTS)
    expect(new Set(ids(allocations)).size).toBe(2)
    expect(await request("b", { wanted: 1 })).toEqual([])
  })

  it("returns the same allocations to a request whose response was lost", async () => {
    const first = await request("a", { wanted: 2 })
    expect(await request("a", { wanted: 2 })).toEqual(first)
  })

  it("ignores a late request", async () => {
    await request("a", { wanted: 1 })
    expect(await request("a", { number: 1, wanted: 9 })).toBeNull()
  })

  it("frees released slots, and allocates the same slot under a higher number", async () => {
    const [first = 0] = ids(await request("a", { wanted: 1 }))
    expect(await request("a", { released: [first] })).toEqual([])
    const [second = 0] = ids(await request("a", { wanted: 1 }))
    expect(second).toBeGreaterThan(first)
  })

  it("counts from the present after a clock that ran days ahead is corrected", async () => {
    const [first = 0] = ids(await request("a", { wanted: 1 }))
    const [, second = 0] = await atClock(30 * DAY_MS, async () =>
      ids(await request("a", { wanted: 1, inUse: [first] })),
    )
    expect(second).toBeGreaterThan(first + DAY_MS)
    const [, third = 0] = ids(await request("a", { wanted: 1, inUse: [first], released: [second] }))
    expect(third).toBeGreaterThan(first)
    expect(third).toBeLessThan(Date.now() + 60_000)
  })

  it("answers requests again after numbers an hour ahead are corrected", async () => {
    const later = Date.now() + 3600 * 1000
    expect(await request("a", { number: later, wanted: 1 })).toHaveLength(1)
    expect(await request("a", { number: computeNextSlotRequestNumber(later, Date.now()) })).toEqual(
      [],
    )
    const now = computeNextSlotRequestNumber(0, Date.now())
    expect(await request("a", { number: now + 1, wanted: 1 })).toHaveLength(1)
    expect(await request("a", { number: now, wanted: 1 })).toBeNull()
  })

  it("wakes a holder whose last request a clock ahead recorded in the future", async () => {
    const woken: string[] = []
    await runInDurableObject(pool, async (_, ctx) => {
      const faked = new Pool(ctx, makeContainerEnv({ wake: (accountId) => woken.push(accountId) }))
      const asked = { number: 1, wanted: 1, inUse: [], released: [] }
      await faked.requestSlots("media", { ...asked, accountId: "a" })
      await faked.alarm()
      expect(woken).toEqual([])
      await atClock(3_600_000, () =>
        faked.requestSlots("media", { ...asked, number: 2, accountId: "a" }),
      )
      await faked.alarm()
    })
    expect(woken).toEqual(["a"])
  })

  it("ignores a turn from a clock that ran days ahead", async () => {
    await atClock(30 * DAY_MS, async () => {
      await request("late", { released: ids(await request("late", { wanted: 1 })) })
    })
    await request("other", { released: ids(await request("other", { wanted: 1 })) })
    const [first = 0, second = 0] = ids(await request("holder", { wanted: 2 }))
    await request("other", { wanted: 1 })
    await request("late", { wanted: 1 })
    await request("holder", { inUse: [second], released: [first] })
    expect(await request("late", { wanted: 1 })).toHaveLength(1)
  })

  it("ignores a waiting time from a clock that ran days ahead", async () => {
    await request("a", { wanted: 2 })
    await atClock(30 * DAY_MS, () => request("b", { wanted: 1 }))
    expect(await waitsSince("b")).toBeGreaterThan(Date.now() + DAY_MS)
    await request("b", { wanted: 1 })
    expect(await waitsSince("b")).toBeLessThanOrEqual(Date.now())
  })

  it("restores holders and waiting accounts after a restart", async () => {
    const held = await request("a", { wanted: 2 })
    await request("b", { wanted: 1 })
    const since = await waitsSince("b")
    await evictDurableObject(pool)
    await request("c", { wanted: 1 })
    expect(await request("a", { wanted: 2 })).toEqual(held)
    await request("a", { inUse: ids(held).slice(1), released: ids(held).slice(0, 1) })
    expect(await waitsSince("b")).toBeUndefined()
    expect(await waitsSince("c")).toBeGreaterThanOrEqual(since ?? Infinity)
    expect(await request("b", { wanted: 1 })).toHaveLength(1)
  })

  it("allocates many slots in one request", async () => {
    const slots = 375
    const given = await runInDurableObject(pool, async (_, ctx) => {
      const large = new Pool(ctx, { ...env, RUNNER_CAPACITY: String(slots) })
      const asked = { accountId: "a", number: 1, wanted: slots, inUse: [], released: [] }
      return await large.requestSlots("media", asked)
    })
    expect(new Set(given?.map(({ slot }) => slot)).size).toBe(slots)
    expect(new Set(ids(given)).size).toBe(slots)
  })

  it("takes back idle slots without demand", async () => {
    const [used = 0] = ids(await request("a", { wanted: 2 }))
    expect(ids(await request("a", { wanted: 0, inUse: [used] }))).toEqual([used])
    expect(await request("b", { wanted: 1 })).toHaveLength(1)
  })

  it("takes back allocations without a task from an account that lost its memory, and allocates them again", async () => {
    const [used = 0, lost = 0] = ids(await request("a", { wanted: 2 }))
    const [kept, anew] = ids(await request("a", { wanted: 1, inUse: [used], isResync: true }))
    expect(kept).toBe(used)
    expect(anew).toBeGreaterThan(lost)
    expect(ids(await request("a", { inUse: [used], isResync: true }))).toEqual([used])
  })

  it("frees no slot of another account", async () => {
    const [theirs = 0] = ids(await request("a", { wanted: 1 }))
    await request("b", { released: [theirs] })
    expect(ids(await request("a", { inUse: [theirs] }))).toEqual([theirs])
  })

  it("gives the next free slot to the account that has waited longest for one", async () => {
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

  it("gives the next free slot to an account without slots, even if that had the last one", async () => {
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

  it("gives an account no more than its share while others wait", async () => {
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
