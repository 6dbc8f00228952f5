import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, describe, expect, it, vi } from "vitest"
import { hashApiKey } from "../../../src/platform/crypto/api-key.ts"
import type { Env } from "../../../src/bindings/env.ts"
import { RateLimiter } from "../../../src/accounts/rate-limit/rate-limiter.ts"
import type { Caller } from "../../../src/bindings/rpc.ts"
import { makeCaller } from "../../support/caller.ts"

const LIMIT = 5
const WRITE_MS = 5_000
const POLL = { timeout: 12_000, interval: 100 }
const MIDNIGHT = Date.parse("2027-03-02T00:00:00Z")

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

async function rowsOf(keyId: string) {
  const { results } = await env.DB.prepare(
    "select day, requests from usage_days where key_id = ? order by day",
  )
    .bind(keyId)
    .all()
  return results
}

async function lastUseOf(keyId: string): Promise<unknown> {
  return await env.DB.prepare("select last_used_at from keys where id = ?")
    .bind(keyId)
    .first("last_used_at")
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** Returns a database whose queries fail until `come`. */
function lateDatabase(): { DB: D1Database; come: () => void } {
  let isThere = false
  const DB = new Proxy(env.DB, {
    get(database, name) {
      const member: unknown = Reflect.get(database, name)
      if (typeof member !== "function") return member
      return name === "batch" && !isThere
        ? () => Promise.reject(new Error("the database is away"))
        : (...given: unknown[]): unknown => Reflect.apply(member, database, given)
    },
  })
  return { DB, come: () => (isThere = true) }
}

async function limiterOf(
  key: string,
  more: Partial<Env>,
  use: (limiter: RateLimiter, hash: string) => Promise<void>,
): Promise<void> {
  const hash = await hashApiKey(key)
  await runInDurableObject(env.RATE_LIMITER.getByName(crypto.randomUUID()), async (_, state) => {
    await use(new RateLimiter(state, { ...env, ...more }), hash)
  })
}

describe("requests of a key", () => {
  it("are counted by day with its last use, some seconds later, without refused ones", async () => {
    const { id, call } = await makeCaller("counted", "paid")
    const before = Date.now()
    for (let used = 0; used < LIMIT + 3; used += 1) await call("/files")
    const after = Date.now()
    expect(await rowsOf(id)).toEqual([])
    await expect.poll(() => rowsOf(id), POLL).toEqual([{ day: dayOf(after), requests: LIMIT }])
    const lastUse = Number(await lastUseOf(id))
    expect(lastUse).toBeGreaterThanOrEqual(before)
    expect(lastUse).toBeLessThanOrEqual(after)
  })

  it("are counted on the days of the requests", async () => {
    const { id, key } = await makeCaller("over midnight")
    vi.useFakeTimers({ toFake: ["Date", "setTimeout"], now: MIDNIGHT - 1 })
    await limiterOf(key, {}, async (limiter, hash) => {
      await limiter.take(hash)
      vi.setSystemTime(MIDNIGHT)
      for (let used = 0; used < 2; used += 1) await limiter.take(hash)
      await vi.advanceTimersByTimeAsync(WRITE_MS)
      await expect
        .poll(() => rowsOf(id), POLL)
        .toEqual([
          { day: "2027-03-01", requests: 1 },
          { day: "2027-03-02", requests: 2 },
        ])
    })
  })

  it("are not lost while the database is unavailable", async () => {
    const { id, key } = await makeCaller("counted late")
    const { DB, come } = lateDatabase()
    vi.useFakeTimers({ toFake: ["setTimeout"] })
    await limiterOf(key, { DB }, async (limiter, hash) => {
      await limiter.take(hash)
      await vi.advanceTimersByTimeAsync(WRITE_MS)
      await limiter.take(hash)
      come()
      await vi.advanceTimersByTimeAsync(WRITE_MS)
      await expect.poll(() => rowsOf(id), POLL).toEqual([{ day: dayOf(Date.now()), requests: 2 }])
    })
  })

  it("leave no row of an account that was deleted meanwhile, and no timer once all is written", async () => {
    const { id, key } = await makeCaller("deleted meanwhile")
    vi.useFakeTimers({ toFake: ["setTimeout"] })
    await limiterOf(key, {}, async (limiter, hash) => {
      await limiter.take(hash)
      await env.DB.prepare(
        "update accounts set deleted_at = 1 where id = (select account_id from keys where id = ?)",
      )
        .bind(id)
        .run()
      expect(vi.getTimerCount()).toBe(1)
      await vi.advanceTimersByTimeAsync(WRITE_MS)
      await expect.poll(() => lastUseOf(id), POLL).toBeGreaterThan(0)
      expect(await rowsOf(id)).toEqual([])
      expect(vi.getTimerCount()).toBe(0)
    })
  })
})

describe("requests of a user", () => {
  it("are counted for no key", async () => {
    const { id, key } = await makeCaller("a user's")
    const accountId = String(
      await env.DB.prepare("select account_id from keys where id = ?").bind(id).first("account_id"),
    )
    const account = { id: accountId, plan: "trial", ownLimits: null, isSuspended: false }
    const caller: Caller = { account, key: null }
    const sql = "select key_id, requests from usage_days where account_id = ?"
    vi.useFakeTimers({ toFake: ["setTimeout"] })
    await limiterOf(key, {}, async (limiter) => {
      for (let used = 0; used < 3; used += 1) await limiter.takeFor(caller)
      await vi.advanceTimersByTimeAsync(WRITE_MS)
      await expect
        .poll(async () => (await env.DB.prepare(sql).bind(accountId).all()).results, POLL)
        .toEqual([{ key_id: "", requests: 3 }])
    })
    expect(await lastUseOf(id)).toBeNull()
  })
})

describe("a key whose lookup fails", () => {
  it("is not treated as invalid, and is found once the lookup succeeds", async () => {
    const { key } = await makeCaller("not looked up")
    let isThere = false
    const DB = new Proxy(env.DB, {
      get: (database, name) => (asked: string) => {
        if (!isThere) throw new Error("the database is away")
        return name === "prepare" ? database.prepare(asked) : undefined
      },
    })
    vi.useFakeTimers({ toFake: ["setTimeout"] })
    await limiterOf(key, { DB }, async (limiter, hash) => {
      await expect(limiter.take(hash)).rejects.toThrow("the database is away")
      isThere = true
      expect(await limiter.take(hash)).toMatchObject({ allowed: true })
    })
  })
})

describe("a key whose limiter left memory", () => {
  it("continues its minute", async () => {
    const { id, key, call } = await makeCaller("evicted", "paid")
    for (let used = 0; used < LIMIT - 1; used += 1) await call("/files")
    await expect.poll(() => rowsOf(id), POLL).not.toEqual([])
    await evictDurableObject(env.RATE_LIMITER.getByName(await hashApiKey(key)))
    expect((await call("/files")).headers.get("ratelimit")).toMatch(/r=0;/)
    expect((await call("/files")).status).toBe(429)
  })
})
