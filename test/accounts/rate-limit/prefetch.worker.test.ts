import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, describe, expect, it, vi } from "vitest"
import { app } from "../../../src/app.ts"
import { hashApiKey } from "../../../src/platform/crypto/api-key.ts"
import { RateLimiter } from "../../../src/accounts/rate-limit/rate-limiter.ts"
import { revokeApiKey } from "../../../src/accounts/keys.ts"
import type { RateLimiterRpc, UnusedPrefetchedRequests } from "../../../src/bindings/rpc.ts"
import { makeCaller } from "../../support/caller.ts"

const REQUESTS = 200
/** TRIAL_REQUESTS_PER_MINUTE in the limiters of these tests. */
const LIMIT = 300
const WANTED = 32
const TRIAL = 20_000
const POLL = { timeout: 12_000, interval: 100 }

afterEach(() => void vi.restoreAllMocks())

/** Sends requests to the Worker, and notes the calls to the key's object. */
function askWatched(key: string, lost: (name: string) => boolean = () => false) {
  const calls: string[] = []
  const contexts: ExecutionContext[] = []
  async function note<Answer>(name: string, act: () => Promise<Answer>): Promise<Answer> {
    calls.push(name)
    if (lost(name)) throw new Error("the call is lost")
    return await act()
  }
  const RATE_LIMITER = new Proxy(env.RATE_LIMITER, {
    get: () => (name: string) => {
      const stub = env.RATE_LIMITER.getByName(name)
      return {
        take: (...given: Parameters<RateLimiterRpc["take"]>) =>
          note("take", async () => await stub.take(...given)),
        giveBack: (unused: UnusedPrefetchedRequests) =>
          note("giveBack", async () => await stub.giveBack(unused)),
        forget: () => note("forget", async () => await stub.forget()),
      }
    },
  })
  const where = { ...env, RATE_LIMITER }
  async function ask(path = "/nothing-is-here"): Promise<Response> {
    const context = createExecutionContext()
    contexts.push(context)
    const init = { headers: { "x-api-key": key } }
    return await app.fetch(new Request(`https://lathe.test/v1${path}`, init), where, context)
  }
  return {
    ask,
    calls,
    env: where,
    /** Waits until unused requests were given back. */
    rest: async () => void (await Promise.all(contexts.map(waitOnExecutionContext))),
  }
}

/** Sends many requests at once; returns the remaining allowance of each. */
async function makeBusy(ask: () => Promise<Response>): Promise<number[]> {
  const now = Date.now()
  vi.spyOn(Date, "now").mockReturnValue(now)
  const left: number[] = []
  for (let made = 0; made < REQUESTS; made += 1) {
    const { headers } = await ask()
    left.push(Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]))
  }
  vi.restoreAllMocks()
  return left
}

async function requestsOf(keyId: string): Promise<number> {
  const sql = "select sum(requests) as requests from usage_days where key_id = ?"
  return Number(await env.DB.prepare(sql).bind(keyId).first("requests"))
}

describe("a key with frequent requests", () => {
  it("calls its object now and then, gets its remaining allowance each time, and is counted exactly", async () => {
    const { id, key } = await makeCaller("often")
    const { ask, calls, rest } = askWatched(key)
    const left = await makeBusy(ask)
    expect(left).toEqual(Array.from({ length: REQUESTS }, (_, index) => TRIAL - 1 - index))
    expect(calls.filter((method) => method === "take").length).toBeLessThan(REQUESTS / 4)
    await rest()
    expect((await ask()).headers.get("ratelimit")).toContain(`r=${TRIAL - REQUESTS - 1};`)
    await expect.poll(() => requestsOf(id), POLL).toBe(REQUESTS + 1)
  })

  it("is refused at once if it is revoked here", async () => {
    const { id, key } = await makeCaller("often and revoked")
    const watched = askWatched(key)
    await makeBusy(watched.ask)
    await revokeApiKey(env, id)
    expect((await watched.ask()).status).toBe(401)
  })

  it("is refused within a second if it is revoked elsewhere, without a call to its object", async () => {
    const { id, key } = await makeCaller("often and revoked elsewhere")
    const { ask } = askWatched(key)
    await makeBusy(ask)
    await env.DB.prepare("update keys set revoked_at = 1 where id = ?").bind(id).run()
    const wait = { timeout: 1500, interval: 5 }
    await expect.poll(async () => (await ask()).status, wait).toBe(401)
  })

  it("is refused within a second if the call to its object is lost", async () => {
    const { id, key } = await makeCaller("often and unheard")
    const { ask, env: where } = askWatched(key, (method) => method === "forget")
    await makeBusy(ask)
    await expect(revokeApiKey(where, id)).rejects.toThrow("the call is lost")
    const wait = { timeout: 1500, interval: 5 }
    await expect.poll(async () => (await ask()).status, wait).toBe(401)
  })
})

describe("requests that are granted ahead", () => {
  it("never exceed the limit, and unused ones are granted again", async () => {
    const { key } = await makeCaller("ahead")
    const hash = await hashApiKey(key)
    const stub = env.RATE_LIMITER.getByName(crypto.randomUUID())
    await runInDurableObject(stub, async (_, state) => {
      const settings = { TRIAL_REQUESTS_PER_MINUTE: String(LIMIT) }
      const limiter = new RateLimiter(state, { ...env, ...settings })
      let through = 0
      let unused = null
      for (let asked = 0; asked < 2 * LIMIT; asked += 1) {
        const granted = await limiter.take(hash, { changes: false, wanted: WANTED, unused })
        if (!granted?.allowed) continue
        // Half of each grant stays unused.
        through += 1 + granted.more / 2
        unused = granted.more > 0 ? { count: granted.more / 2, grantedAt: granted.grantedAt } : null
      }
      expect(through).toBe(LIMIT)
    })
  })

  it("expire with the key", async () => {
    const { id, key } = await makeCaller("ahead and short")
    const hash = await hashApiKey(key)
    const expiresAt = Date.now() + 300
    await env.DB.prepare("update keys set expires_at = ? where id = ?").bind(expiresAt, id).run()
    const stub = env.RATE_LIMITER.getByName(hash)
    const granted = await stub.take(hash, { changes: false, wanted: WANTED, unused: null })
    expect(granted?.moreMs).toBeLessThanOrEqual(300)
  })
})
