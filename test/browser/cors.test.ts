import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { startLoopbackServer } from "../../scripts/cli/loopback-server.ts"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { startService } from "../system/service.ts"
import type { TestService } from "../system/service.ts"
import { LACK, openBrowser } from "./browser.ts"
import type { TestBrowser } from "./browser.ts"

type Site = Awaited<ReturnType<typeof startLoopbackServer>>

let site: Site
let stranger: Site
let service: TestService
let browser: TestBrowser
let key: string

const opened = new AsyncDisposableStack()

async function startSite(): Promise<Site> {
  return opened.use(
    await startLoopbackServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<title>A site</title>")
    }),
  )
}

/** A script with the service's origin and a key: uploads a file and reads a range of it. */
function scriptOf(origin: string): string {
  return `(async () => {
    const headers = { "x-api-key": ${JSON.stringify(key)}, "idempotency-key": crypto.randomUUID() }
    const body = new FormData()
    body.append("file", new File(["0123456789"], "ten.txt"))
    const made = await fetch("${origin}/v1/files", { method: "POST", headers, body })
    const { download_url } = await made.json()
    const part = await fetch(download_url, { headers: { ...headers, range: "bytes=2-4" } })
    return {
      status: made.status,
      location: made.headers.get("location"),
      limit: made.headers.get("ratelimit"),
      part: [part.status, part.redirected, part.headers.get("content-range"), await part.text()],
    }
  })()`
}

const REFUSED = /CORS policy|net::ERR_FAILED|answer: 401 OPTIONS/

describe.skipIf(LACK !== null)(`pages of other origins${makeSkipSuffix(LACK)}`, () => {
  beforeAll(async () => {
    site = await startSite()
    stranger = await startSite()
    service = opened.use(await startService({ CORS_ORIGINS: `https://a.example,${site.origin}` }))
    browser = opened.use(await openBrowser())
    key = await service.makeKey("cors", "paid")
  })

  afterAll(async () => await opened.disposeAsync())

  it("upload and download by scripts, if CORS_ORIGINS names them", async () => {
    const page = await browser.openPage(service)
    await page.goto(site.origin)
    const said = z
      .object({ status: z.number(), location: z.string(), limit: z.string(), part: z.unknown() })
      .parse(await page.evaluate(scriptOf(service.origin)))
    expect(said).toMatchObject({ status: 201, part: [206, true, "bytes 2-4/10", "234"] })
    expect(said.location).toContain(`${service.origin}/v1/files/`)
    expect(said.limit).toMatch(/^"requests";r=\d+/)
  })

  it("cannot call the API by scripts otherwise", async () => {
    const page = await browser.openPage(service, { expected: [REFUSED] })
    await page.goto(stranger.origin)
    await expect(page.evaluate(scriptOf(service.origin))).rejects.toThrow("Failed to fetch")
  })
})
