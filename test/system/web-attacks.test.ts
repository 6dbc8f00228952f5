import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { OTHER_URLS, PRIVATE_HOSTS } from "../container/egress/spellings.ts"
import { openCanary } from "../support/site/canary.ts"
import type { Canary } from "../support/site/canary.ts"
import { openSite } from "../support/site/site.ts"
import type { Site } from "../support/site/site.ts"
import { WAYS } from "../support/site/toward.ts"
import { startService } from "./service.ts"
import type { TestService } from "./service.ts"
import { openWaysIn, WAYS_IN } from "./web-ways-in.ts"
import type { WaysIn } from "./web-ways-in.ts"

const REFUSED = { status: 422, code: "url_not_allowed" }
/** Of the ways that lead on, those whose end is a File as it is: an import follows no list of these. */
const STORED = /\.(?:rss|xspf|smil|f4m|m3u|ffconcat)$/

let service: TestService
let site: Site
let canary: Canary
let waysIn: WaysIn

beforeAll(async () => {
  site = await openSite()
  canary = await openCanary()
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: site.host,
    PAID_REQUESTS_PER_MINUTE: "100000",
    RUNNER_CAPACITY: "4",
  })
  waysIn = openWaysIn(service.origin, await service.makeKey("web", "paid"))
})

afterAll(async () => {
  expect(canary.heard).toEqual([])
  expect(canary.connections()).toBe(0)
  await service[Symbol.asyncDispose]()
  await site.close()
  await canary.close()
})

function lead(way: string, to: string): string {
  return site.url(`${way}?${new URLSearchParams({ to }).toString()}`)
}

describe.for(WAYS_IN)("%s", (name) => {
  test("refuses every spelling of a private host", async () => {
    const ends = await Promise.all(
      PRIVATE_HOSTS.map(async (host) => {
        const { status, code } = await waysIn[name](`http://${host}:${canary.port}/clip.mp4`)
        return { host, status, code }
      }),
    )
    expect(ends).toEqual(PRIVATE_HOSTS.map((host) => ({ host, ...REFUSED })))
  })

  test("refuses what is no URL of the web", async () => {
    const ends = await Promise.all(
      OTHER_URLS.map(async (url) => ({ url, status: (await waysIn[name](url)).status })),
    )
    expect(ends).toEqual(OTHER_URLS.map((url) => ({ url, status: 422 })))
  })
})
