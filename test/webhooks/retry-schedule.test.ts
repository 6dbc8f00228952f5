import { describe, expect, it } from "vitest"
import {
  computeNextDeliveryState,
  parseWebhookRetryAfter,
} from "../../src/webhooks/retry-schedule.ts"
import type { DeliveryTryResult } from "../../src/webhooks/retry-schedule.ts"
import { acquirePermit } from "../../src/webhooks/semaphore.ts"

const WAITS_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 36_000]
const DAY_MS = 86_400_000
const NOW = Date.parse("2026-11-21T12:00:00Z")

function attempt(status: number | null, retryAfter: string | null = null): DeliveryTryResult {
  const error = status !== null && status < 300 ? null : "it failed"
  const said = { status, error, answer: null, retryAfter, isOfReceiver: true }
  return { startedAt: NOW - 40, durationMs: 40, ...said }
}

describe("a delivery after a try", () => {
  it("waits longer each time and fails with the eighth try", () => {
    const all = [0, 1, 2, 3, 4, 5, 6, 7].map((tries) =>
      computeNextDeliveryState(attempt(500), tries, WAITS_SECONDS),
    )
    expect(all.map(({ waitMs }) => waitMs / 1000)).toEqual([...WAITS_SECONDS, 0])
    expect(all.map(({ state }) => state)).toEqual([...Array(7).fill("waiting"), "failed"])
  })

  it("waits for Retry-After if that is longer, and for a day at most", () => {
    function waitMs(retryAfter: string, tries = 0) {
      return computeNextDeliveryState(attempt(503, retryAfter), tries, WAITS_SECONDS).waitMs
    }
    expect(waitMs("60")).toBe(60_000)
    expect(waitMs("60", 1)).toBe(300_000)
    expect(waitMs("Sat, 21 Nov 2026 12:02:00 GMT")).toBe(120_000)
    expect(waitMs("9999999")).toBe(DAY_MS)
    expect(waitMs("Sat, 21 Nov 2099 12:00:00 GMT")).toBe(DAY_MS)
  })

  it("ignores a malformed Retry-After", () => {
    for (const header of [null, "", "soon", "-5", "Sat, 21 Nov 2020 12:00:00 GMT"]) {
      expect(parseWebhookRetryAfter(header, NOW)).toBe(0)
    }
  })
})

describe("the semaphores of deliveries", () => {
  it("admit four deliveries of an account to a host, and another when one releases its permit", () => {
    const delivery = { accountId: "one", host: "receiver.example" }
    const releases = [1, 2, 3, 4].map(() => acquirePermit(delivery, NOW, NOW + 1000))
    expect(releases).not.toContain(null)
    expect(acquirePermit(delivery, NOW, NOW + 1000)).toBeNull()
    expect(acquirePermit({ ...delivery, host: "other.example" }, NOW, NOW + 1000)).not.toBeNull()
    expect(acquirePermit({ ...delivery, accountId: "two" }, NOW, NOW + 1000)).not.toBeNull()
    releases[0]?.()
    expect(acquirePermit(delivery, NOW, NOW + 1000)).not.toBeNull()
    expect(acquirePermit(delivery, NOW, NOW + 1000)).toBeNull()
    expect(acquirePermit(delivery, NOW + 1000, NOW + 2000)).not.toBeNull()
  })

  it("admit 32 deliveries of an account in all", () => {
    const hosts = Array.from({ length: 33 }, (_, index) => `${index}.example`)
    const permits = hosts.map((host) => acquirePermit({ accountId: "three", host }, NOW, NOW + 1))
    expect(permits.indexOf(null)).toBe(32)
  })
})
