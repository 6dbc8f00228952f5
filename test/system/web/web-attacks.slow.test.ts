import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { OTHER_URLS, PRIVATE_HOSTS } from "../../container/egress/spellings.ts"
import { startCanaryServer } from "../../support/site/canary.ts"
import type { CanaryServer } from "../../support/site/canary.ts"
import { startTestSite } from "../../support/site/site.ts"
import type { TestSite } from "../../support/site/site.ts"
import { LEADS } from "./web-leads.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { openWaysIn, WAYS_IN } from "./web-ways-in.ts"
import type { WaysIn } from "./web-ways-in.ts"

const SPELLINGS = PRIVATE_HOSTS.filter((host) => host !== "localhost.localdomain")

let service: TestService
let site: TestSite
let canary: CanaryServer
let waysIn: WaysIn

beforeAll(async () => {
  site = await startTestSite()
  canary = await startCanaryServer()
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

/** A page, manifest or redirect of the site that leads to a URL. */
function lead(way: string, to: string): string {
  return site.url(`/toward/${way}?${new URLSearchParams({ to }).toString()}`)
}

/** Codes that refuse a URL; an unreadable URL has its own. */
function refusalOf(url: string) {
  return { url, status: 422, ...(URL.canParse(url) && { code: "url_not_allowed" }) }
}

describe.for(WAYS_IN)("%s", (name) => {
  test("refuses every spelling of a private host", async () => {
    const urls = SPELLINGS.map((host) => `http://${host}:${canary.port}/clip.mp4`)
    const ends = await Promise.all(
      urls.map(async (url) => {
        const { status, code } = await waysIn[name](url)
        return { url, status, ...(URL.canParse(url) && { code }) }
      }),
    )
    expect(ends).toEqual(urls.map(refusalOf))
  })

  test("refuses URLs of other schemes", async () => {
    const ends = await Promise.all(
      OTHER_URLS.map(async (url) => ({ url, status: (await waysIn[name](url)).status })),
    )
    expect(ends).toEqual(OTHER_URLS.map((url) => ({ url, status: 422 })))
  })
})

describe.concurrent.for(LEADS)("$name by $way to $to", ({ name, way, to, code }) => {
  test("reaches nothing private", async () => {
    const end = await waysIn[name](lead(way, to.replace("CANARY", canary.host)))
    expect({ code: end.code, canary: canary.heard }).toEqual({ code, canary: [] })
    expect(end.text).not.toMatch(/secret|root:/)
  })
})
