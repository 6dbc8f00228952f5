import { afterEach, expect, it, vi } from "vitest"
import { makeCaller } from "../../support/caller.ts"

// PAID_REQUESTS_PER_MINUTE is 5 in these tests.
const LIMIT = 5
const HOUR_MS = 3_600_000

afterEach(() => {
  vi.restoreAllMocks()
})

it("a window from a clock that ran an hour ahead does not block a key", async () => {
  const caller = await makeCaller("ahead", "paid")
  const now = Date.now()
  const clock = vi.spyOn(Date, "now").mockImplementation(() => now + HOUR_MS)
  for (let used = 0; used < LIMIT; used += 1) await caller.call("/files")
  expect((await caller.call("/files")).status).toBe(429)
  clock.mockRestore()
  expect((await caller.call("/files")).status).toBe(200)
})

it("a key beyond its limit gets the time of its next request, and another key is unaffected", async () => {
  const [caller, other] = [await makeCaller("hasty", "paid"), await makeCaller("calm", "paid")]
  for (let used = 1; used <= LIMIT; used += 1) {
    const answer = await caller.call("/files")
    expect(answer.status).toBe(200)
    expect(answer.headers.get("ratelimit")).toMatch(new RegExp(`r=${LIMIT - used};t=\\d+`))
  }
  const refused = await caller.call("/files")
  const seconds = Number(refused.headers.get("retry-after"))
  expect(refused.status).toBe(429)
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(60)
  expect(await refused.json()).toMatchObject({
    error: { code: "rate_limit_exceeded", retry_after: seconds },
    code: "rate_limit_exceeded",
  })
  expect(refused.headers.get("ratelimit-policy")).toBe(`"requests";q=${LIMIT};w=60`)
  expect((await other.call("/files")).status).toBe(200)
})
