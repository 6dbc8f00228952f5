import { listDurableObjectIds } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { hashApiKey, isIssuedApiKey, assembleApiKey } from "../../../src/platform/crypto/api-key.ts"
import { fetchWorker, fetchOperatorRoute, makeCaller } from "../../support/caller.ts"
import { recordD1RoundTrips } from "../../support/db/counted-trips.ts"
import { readProblem } from "../../support/problem.ts"

/** Limit of REFUSED_KEYS in wrangler.toml, and of concurrent lookups. */
const LIMIT = 100
const CROWD = 300

let addresses = 0

/** Returns an unused address. */
function newAddress(): string {
  addresses += 1
  return `192.0.2.${addresses}`
}

async function askFrom(address: string, key: string): Promise<Response> {
  const headers = { "x-api-key": key, "cf-connecting-ip": address }
  return await fetchWorker("/v1/files", { headers })
}

async function statusFrom(address: string, key: string): Promise<number> {
  const answer = await askFrom(address, key)
  await answer.body?.cancel()
  return answer.status
}

/** Sends keys until the address is limited; returns the number of 401 answers before. */
async function shut(address: string, key?: string): Promise<number> {
  // A new minute may begin meanwhile.
  for (let sent = 0; sent <= 2 * LIMIT; sent += 1) {
    const status = await statusFrom(address, key ?? assembleApiKey())
    if (status === 429) return sent
    expect(status).toBe(401)
  }
  throw new Error("nothing was limited")
}

/** Creates a key under another secret, with its account. */
async function makeUnmarkedKey(account: string): Promise<string> {
  const { id } = await makeCaller(account)
  const key = assembleApiKey()
  await env.DB.prepare("update keys set hash = ? where id = ?")
    .bind(await hashApiKey(key), id)
    .run()
  return key
}

describe("unknown keys", () => {
  it("are refused, and rate limited by address", async () => {
    const address = newAddress()
    expect(await shut(address)).toBeGreaterThanOrEqual(LIMIT)
    const answer = await askFrom(address, assembleApiKey())
    const seconds = Number(answer.headers.get("retry-after"))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
    expect(answer.headers.has("ratelimit")).toBe(false)
    expect(await readProblem(answer)).toMatchObject({
      code: "rate_limit_exceeded",
      error: { retry_after: seconds },
      message: expect.stringContaining("address sent too many invalid keys"),
    })
    expect(await statusFrom(newAddress(), assembleApiKey())).toBe(401)
  })

  it("reach no object, and no lookup if they were looked up or their address is limited", async () => {
    const address = newAddress()
    const key = assembleApiKey()
    const first = await recordD1RoundTrips(async () => void (await askFrom(address, key)))
    expect(first).toEqual(["select keys"])
    const again = await recordD1RoundTrips(async () => void (await askFrom(newAddress(), key)))
    expect(again).toEqual([])
    await shut(address)
    const limited = await recordD1RoundTrips(
      async () => void (await askFrom(address, assembleApiKey())),
    )
    expect(limited).toEqual([])
    const ids = await listDurableObjectIds(env.RATE_LIMITER)
    const own = env.RATE_LIMITER.idFromName(await hashApiKey(key))
    expect(ids.some((id) => id.equals(own))).toBe(false)
  })

  it("cause a limited number of lookups if sent concurrently", async () => {
    const address = newAddress()
    let statuses: number[] = []
    const trips = await recordD1RoundTrips(async () => {
      const asked = Array.from({ length: CROWD }, () => statusFrom(address, assembleApiKey()))
      statuses = await Promise.all(asked)
    })
    expect(trips.length).toBeLessThanOrEqual(2 * LIMIT)
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(
      CROWD - 2 * LIMIT,
    )
  })

  it("are counted per IPv6 network", async () => {
    await shut("2001:db8:1:2::1")
    expect(await statusFrom("2001:db8:1:2:ffff::9", assembleApiKey())).toBe(429)
    expect(await statusFrom("2001:db8:1:3::1", assembleApiKey())).toBe(401)
  })
})

describe("a caller that shares an address with unknown keys", () => {
  it("is admitted with a key of this service, even a new one", async () => {
    const address = newAddress()
    const seen = await makeCaller("seen before")
    expect(await statusFrom(address, seen.key)).toBe(200)
    await shut(address)
    const fresh = await makeCaller("not seen before")
    expect(await isIssuedApiKey(env.LATHE_SECRET ?? "", fresh.key)).toBe(true)
    expect(await statusFrom(address, seen.key)).toBe(200)
    expect(await statusFrom(address, fresh.key)).toBe(200)
  })

  it("is admitted with a key of another secret of the service if it was used lately", async () => {
    const address = newAddress()
    const [seen, other] = [await makeUnmarkedKey("old and seen"), await makeUnmarkedKey("old")]
    expect(await statusFrom(address, seen)).toBe(200)
    await shut(address)
    expect(await statusFrom(address, seen)).toBe(200)
    expect(await statusFrom(address, other)).toBe(429)
    expect(await statusFrom(newAddress(), other)).toBe(200)
  })
})

describe("a revoked key", () => {
  it("is refused without its object the next time, and counts for its address", async () => {
    const address = newAddress()
    const { id, key } = await makeCaller("revoked and counted")
    expect(await statusFrom(address, key)).toBe(200)
    await fetchOperatorRoute(`/keys/${id}`, { method: "DELETE" })
    expect(await statusFrom(address, key)).toBe(401)
    const trips = await recordD1RoundTrips(async () => {
      expect(await shut(address, key)).toBeGreaterThanOrEqual(LIMIT - 1)
    })
    expect(trips.filter((trip) => trip === "select keys")).toEqual([])
  })
})

describe("the mark of a key", () => {
  it("depends on the secret of its service", async () => {
    const { key } = await makeCaller("marked")
    expect(await isIssuedApiKey("another secret of another service", key)).toBe(false)
    expect(await isIssuedApiKey(env.LATHE_SECRET ?? "", assembleApiKey())).toBe(false)
  })
})
