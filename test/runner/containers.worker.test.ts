import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { Pool } from "../../src/scheduler/pool.ts"
import { PLAN_LIMITS } from "../../src/domain/plans.ts"
import type { SlotAllocation, SlotDegradedReason } from "../../src/bindings/rpc.ts"
import { makeContainerEnv } from "../support/runner/containers.ts"

describe("a slot with a container", () => {
  let ended: { slot: string; allocation: number }[]
  let handedOver: Pick<SlotAllocation, "id" | "slot">[]
  let woken: string[]
  let answer: () => Promise<boolean>
  let number = 0

  afterEach(() => {
    vi.restoreAllMocks()
  })

  beforeEach(() => {
    ended = []
    handedOver = []
    woken = []
    answer = () => Promise.resolve(true)
  })

  function inPool<Value>(
    work: (pool: Pool) => Promise<Value>,
    RUNNER_INSTANCES = "1",
  ): Promise<Value> {
    const object = env.POOL.getByName(crypto.randomUUID())
    const containers = makeContainerEnv({
      async end(slot, allocation) {
        ended.push({ slot, allocation })
        return await answer()
      },
      handOver: (allocation) => void handedOver.push(allocation),
      wake: (accountId) => woken.push(accountId),
    })
    return runInDurableObject(object, (_, ctx) =>
      work(new Pool(ctx, { ...containers, RUNNER_INSTANCES })),
    )
  }

  function request(pool: Pool, accountId: string, wanted: number, released: number[] = []) {
    number += 1
    return pool.requestSlots("media", { accountId, number, wanted, inUse: [], released })
  }

  /** Reports a problem of a slot to its pool. */
  async function judge(pool: Pool, problem: SlotDegradedReason, isThere: boolean): Promise<void> {
    await pool.problemJudged({ slot: "media-0", problem, isThere })
  }

  async function untilWoken(pool: Pool, accountId: string, wanted = 1) {
    await expect.poll(() => woken).toContain(accountId)
    return await request(pool, accountId, wanted)
  }

  it("is stopped under its own number before another account gets it and is woken", async () => {
    const steps: string[] = []
    answer = async () => {
      steps.push("ending")
      await scheduler.wait(20)
      steps.push("ended")
      return true
    }
    const [first, second] = await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await request(pool, "a", 0, [mine?.id ?? 0])
      expect(await request(pool, "b", 1)).toEqual([])
      steps.push("answered")
      const [theirs] = (await untilWoken(pool, "b")) ?? []
      return [mine, theirs]
    })
    expect(steps).toEqual(["ending", "answered", "ended"])
    expect(second?.slot).toBe(first?.slot)
    expect(ended).toHaveLength(1)
    expect(ended[0]?.allocation).toBeGreaterThan(first?.id ?? 0)
    expect(ended[0]?.allocation).toBeLessThanOrEqual(second?.id ?? 0)
  })

  it("is stopped concurrently with others, as many as are wanted, and goes to the account whose turn it is then", async () => {
    let open = 0
    let most = 0
    answer = async () => {
      most = Math.max(most, (open += 1))
      await scheduler.wait(50)
      open -= 1
      return true
    }
    const given = await inPool(async (pool) => {
      const mine = (await request(pool, "a", 4)) ?? []
      const released = mine.map(({ id }) => id)
      await request(pool, "a", 0, released)
      expect(await request(pool, "b", 2)).toEqual([])
      expect(await request(pool, "b", 2)).toEqual([])
      await request(pool, "b", 1)
      await request(pool, "c", 1)
      const theirs = [await untilWoken(pool, "b"), await untilWoken(pool, "c")]
      return theirs.map((allocations) => allocations?.length)
    }, "4")
    expect(given).toEqual([1, 1])
    expect([ended.length, most]).toEqual([3, 3])
  })

  it("is empty for the next account once its container was stopped", async () => {
    answer = () => scheduler.wait(50).then(() => true)
    await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await request(pool, "a", 0, [mine?.id ?? 0])
      await request(pool, "b", 1)
      await request(pool, "b", 0)
      await expect.poll(async () => (await request(pool, "c", 1))?.length).toBe(1)
    })
    expect(ended).toHaveLength(1)
  })

  it("stays warm for its last account", async () => {
    await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await request(pool, "a", 1, [mine?.id ?? 0])
    })
    expect(ended).toEqual([])
  })

  it("goes to another account only if that has no slot of its own left", async () => {
    const slots = await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      const [theirs] = (await request(pool, "b", 1)) ?? []
      await request(pool, "a", 0, [mine?.id ?? 0])
      await request(pool, "b", 0, [theirs?.id ?? 0])
      const again = [await request(pool, "b", 1), await request(pool, "a", 1)]
      return again.flatMap((allocations) => allocations?.map(({ slot }) => slot))
    }, "2")
    expect(slots).toEqual(["media-1", "media-0"])
    expect(ended).toEqual([])
  })

  it.for([
    ["says that a later allocation has it", () => Promise.resolve(false)],
    ["cannot be reached", () => Promise.reject(new Error("gone"))],
  ] as const)("goes to no other account if its object %s", async ([, refuse]) => {
    answer = refuse
    const given = await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await request(pool, "a", 0, [mine?.id ?? 0])
      return await request(pool, "b", 1)
    })
    expect(given).toEqual([])
    expect(ended).toHaveLength(1)
  })

  it("is stopped before its account gets it again, after a failed stop", async () => {
    answer = () => Promise.resolve(false)
    const [refused, reasons, given] = await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await request(pool, "a", 0, [mine?.id ?? 0])
      await request(pool, "b", 1)
      await request(pool, "b", 0)
      await expect.poll(() => pool.degradedReasons()).not.toEqual([])
      const again = await request(pool, "a", 1)
      const failing = await pool.degradedReasons()
      answer = () => Promise.resolve(true)
      await pool.alarm()
      await expect.poll(async () => await pool.degradedReasons()).toEqual([])
      return [again, failing, await untilWoken(pool, "a")]
    })
    expect(refused).toEqual([])
    expect(reasons).toEqual(["slot_not_ended"])
    expect(given).toHaveLength(1)
    expect(ended).toHaveLength(2)
  })

  it("delays only the first request if it cannot be stopped", async () => {
    answer = () => Promise.resolve(false)
    await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await request(pool, "a", 0, [mine?.id ?? 0])
      await request(pool, "b", 1)
      await expect.poll(() => pool.degradedReasons()).not.toEqual([])
      await request(pool, "b", 1)
      await request(pool, "c", 1)
    })
    expect(ended).toHaveLength(1)
  })

  it("is not offered to an account that waits for its turn if it cannot be stopped", async () => {
    answer = () => Promise.resolve(false)
    const [first, second] = await inPool(async (pool) => {
      const [one, two, three] = (await request(pool, "holder", 3)) ?? []
      await request(pool, "holder", 2, [three?.id ?? 0])
      await request(pool, "rival", 1)
      await expect.poll(() => pool.degradedReasons()).not.toEqual([])
      const now = Date.now()
      vi.spyOn(Date, "now").mockImplementation(() => now + PLAN_LIMITS.trial.runSecondsMax * 1000)
      await pool.alarm()
      return [one, two]
    }, "3")
    expect(handedOver).toEqual([second])
    expect(first?.id).toBeLessThan(second?.id ?? 0)
  })

  it("is stopped before any account gets it after its runner fell silent", async () => {
    await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await pool.slotDistrusted({ slot: "media-0", allocation: mine?.id ?? 0 })
      expect(await request(pool, "a", 1, [mine?.id ?? 0])).toEqual([])
      const [next] = (await untilWoken(pool, "a")) ?? []
      // A late report about an earlier allocation does not affect a later one.
      await pool.slotDistrusted({ slot: "media-0", allocation: mine?.id ?? 0 })
      await request(pool, "a", 1, [next?.id ?? 0])
    })
    expect(ended).toHaveLength(1)
  })

  it("is allocated under a number that its stop does not make late, even after a clock is corrected", async () => {
    const given = await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await pool.slotDistrusted({ slot: "media-0", allocation: mine?.id ?? 0 })
      await request(pool, "a", 0, [mine?.id ?? 0])
      const [now, number] = [Date.now(), ended.length]
      const clock = vi.spyOn(Date, "now").mockImplementation(() => now + 3_600_000)
      await pool.slotDistrusted({ slot: "media-0", allocation: mine?.id ?? 0 })
      await pool.alarm()
      await expect.poll(() => ended.length).toBe(number + 1)
      clock.mockRestore()
      return await request(pool, "a", 1)
    })
    expect(given?.[0]?.id).toBeGreaterThanOrEqual(ended[0]?.allocation ?? Infinity)
  })

  it("is stopped by the alarm, even without demand", async () => {
    answer = () => Promise.reject(new Error("gone"))
    await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await pool.slotDistrusted({ slot: "media-0", allocation: mine?.id ?? 0 })
      await request(pool, "a", 0, [mine?.id ?? 0])
      await pool.alarm()
      await expect.poll(() => pool.degradedReasons()).not.toEqual([])
      answer = () => Promise.resolve(true)
      await pool.alarm()
      await expect.poll(() => ended.length).toBe(2)
      await expect.poll(async () => await pool.degradedReasons()).toEqual([])
      await pool.alarm()
    })
    expect(ended).toHaveLength(2)
  })

  it("degrades the health after a minute of refused starts, until one succeeds", async () => {
    const began = Date.now()
    const clock = vi.spyOn(Date, "now")
    const [atOnce, lasting, started, forgotten] = await inPool(async (pool) => {
      async function refuseAt(seconds: number) {
        clock.mockImplementation(() => began + seconds * 1000)
        await judge(pool, "container_not_started", true)
        return await pool.degradedReasons()
      }
      const reasons = [await refuseAt(0), await refuseAt(61)]
      await judge(pool, "container_not_started", false)
      reasons.push(await pool.degradedReasons())
      await refuseAt(100)
      // Nobody wanted the slot in between.
      return [...reasons, await refuseAt(1000)]
    })
    expect(atOnce).toEqual([])
    expect(lasting).toEqual(["container_not_started"])
    expect(started).toEqual([])
    expect(forgotten).toEqual([])
  })

  it("degrades the health while its containers have no sandbox", async () => {
    const [failing, after] = await inPool(async (pool) => {
      await judge(pool, "sandbox_failed", true)
      const failed = await pool.degradedReasons()
      await judge(pool, "sandbox_failed", false)
      return [failed, await pool.degradedReasons()]
    })
    expect(failing).toEqual(["sandbox_failed"])
    expect(after).toEqual([])
  })
})
