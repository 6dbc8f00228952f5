import { describe, expect, it } from "vitest"
import { afterTry, readRetryAfter } from "../../../src/pipeline/webhooks/retry-schedule.ts"
import type { Attempt } from "../../../src/pipeline/webhooks/retry-schedule.ts"
import { acquirePermit } from "../../../src/pipeline/webhooks/semaphore.ts"

const WAITS_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 36_000]
const DAY_MS = 86_400_000
const NOW = Date.parse("2026-11-21T12:00:00Z")

function attempt(status: number | null, retryAfter: string | null = null): Attempt {
  const error = status !== null && status < 300 ? null : "it failed"
  const said = { status, error, answer: null, retryAfter, isOfReceiver: true }
  return { startedAt: NOW - 40, durationMs: 40, ...said }
}

describe("a delivery after a try", () => {
  it("waits longer each time and fails with the eighth try", () => {
    const all = [0, 1, 2, 3, 4, 5, 6, 7].map((tries) =>
      afterTry(attempt(500), tries, WAITS_SECONDS),
    )
    expect(all.map(({ waitMs }) => waitMs / 1000)).toEqual([...WAITS_SECONDS, 0])
    expect(all.map(({ state }) => state)).toEqual([...Array(7).fill("waiting"), "failed"])
  })

  it("is delivered by a success and failed by 410, whatever came before", () => {
    expect(afterTry(attempt(204), 6, WAITS_SECONDS).state).toBe("delivered")
    expect(afterTry(attempt(410), 0, WAITS_SECONDS).state).toBe("failed")
    expect(afterTry(attempt(null), 0, WAITS_SECONDS).state).toBe("waiting")
  })

  it("waits as long as Retry-After asks, where that is longer, and a day at most", () => {
    function waitMs(retryAfter: string, tries = 0) {
      return afterTry(attempt(503, retryAfter), tries, WAITS_SECONDS).waitMs
    }
    expect(waitMs("60")).toBe(60_000)
    expect(waitMs("60", 1)).toBe(300_000)
    expect(waitMs("Sat, 21 Nov 2026 12:02:00 GMT")).toBe(120_000)
    expect(waitMs("9999999")).toBe(DAY_MS)
    expect(waitMs("Sat, 21 Nov 2099 12:00:00 GMT")).toBe(DAY_MS)
  })

  it("is not moved by a Retry-After that says nothing", () => {
    for (const header of [null, "", "soon", "-5", "Sat, 21 Nov 2020 12:00:00 GMT"]) {
      expect(readRetryAfter(header, NOW)).toBe(0)
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
    // Those that a clock an hour ahead gave are over too.
    const ahead = { accountId: "ahead", host: "one.example" }
    for (let taken = 0; taken < 4; taken += 1) acquirePermit(ahead, NOW, NOW + 1000)
    expect(acquirePermit(ahead, NOW, NOW + 1000)).toBeNull()
    expect(acquirePermit(ahead, NOW - 3_600_000, NOW)).not.toBeNull()
  })

  it("admit 32 deliveries of an account in all", () => {
    const hosts = Array.from({ length: 33 }, (_, index) => `${index}.example`)
    const permits = hosts.map((host) => acquirePermit({ accountId: "three", host }, NOW, NOW + 1))
    expect(permits.indexOf(null)).toBe(32)
  })
})
