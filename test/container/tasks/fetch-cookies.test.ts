import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { startTestSite } from "../../support/site/site.ts"
import type { TestSite } from "../../support/site/site.ts"
import { fetched, startFetchHarness } from "./fetch-harness.ts"
import type { FetchHarness } from "./fetch-harness.ts"

const SECRET = "a-value-that-nobody-sees"
const COOKIES = [
  "# Netscape HTTP Cookie File",
  "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tright",
  `127.0.0.1\tFALSE\t/\tFALSE\t0\ttoken\t${SECRET}`,
  "",
].join("\n")

let lab: FetchHarness
let other: TestSite

beforeAll(async () => {
  other = await startTestSite({ address: "127.0.0.2" })
  lab = await startFetchHarness({ fetchCookies: null }, [other.host])
})

afterAll(async () => {
  await lab[Symbol.asyncDispose]()
  await other.close()
})

const secrets = { cookies: COOKIES }

describe("cookies of a caller", () => {
  test("open pages that need a login", async () => {
    const { media } = fetched(await lab.fetch("/cookies/page", {}, { secrets }))
    expect(media.probe?.width).toBe(640)
  })

  test("also serve a section of a video", async () => {
    const report = await lab.fetch("/cookies/page", { start: 1, end: 3 }, { secrets })
    expect(fetched(report).duration_seconds).toBeCloseTo(2, 0)
  })

  test("are sent only to their own domain", async () => {
    const to = encodeURIComponent(other.url("/media/clip.mp4"))
    fetched(await lab.fetch(`/cookies/away?to=${to}`, {}, { secrets }))
    expect(lab.site.requests.some(({ headers }) => headers.cookie?.includes(SECRET))).toBe(true)
    expect(other.requests.length).toBeGreaterThan(0)
    expect(other.requests.every(({ headers }) => headers.cookie === undefined)).toBe(true)
  })

  test("appear in no report and no log", async () => {
    const written = vi.spyOn(console, "log")
    const report = await lab.fetch(`/status/404?${SECRET}`, {}, { secrets })
    expect(report).toMatchObject({ kind: "failed", failure: { code: "not_found" } })
    expect(JSON.stringify(report)).not.toContain(SECRET)
    expect(JSON.stringify(written.mock.calls)).not.toContain(SECRET)
    written.mockRestore()
  })

  test("fail as invalid input in another format", async () => {
    const bad = { cookies: "session=right" }
    const report = await lab.fetch("/page/video", {}, { secrets: bad })
    expect(report).toMatchObject({ kind: "failed", failure: { code: "invalid_input" } })
  })
})
