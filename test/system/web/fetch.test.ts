import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { JSON_LD_METADATA } from "../../support/site/pages.ts"
import { openFetchStage } from "./fetch-stage.ts"
import type { FetchStage } from "./fetch-stage.ts"

const COOKIE = "session\tright"

const created = z.looseObject({ fetch_id: z.uuid(), status: z.string() })
const record = z.looseObject({
  id: z.uuid(),
  status: z.string(),
  error_code: z.string().optional(),
  download_url: z.url().optional(),
  subtitles: z.array(z.object({ language: z.string(), url: z.url() })),
})

let stage: FetchStage
let site: FetchStage["site"]
let receiver: FetchStage["receiver"]
let service: FetchStage["service"]
let call: FetchStage["call"]

beforeAll(async () => {
  stage = await openFetchStage("fetches")
  ;({ site, receiver, service, call } = stage)
})

afterAll(() => stage[Symbol.asyncDispose]())

function post(path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" }
  return call(path, { method: "POST", headers, body: JSON.stringify(body) })
}

/** Fetches a page of the site, and waits for the end. */
async function fetchPage(path: string, changes: object = {}) {
  const answer = await post("/fetch", { url: site.url(path), ...changes })
  expect(answer.status).toBe(202)
  const { fetch_id } = created.parse(await answer.json())
  const headers = { prefer: "wait=50" }
  return record.parse(await (await call(`/fetch/${fetch_id}`, { headers })).json())
}

describe("a fetch", () => {
  it("stores the video of a page with subtitles, and sends its webhook", async () => {
    const webhook = `${receiver.origin}/hook`
    const shown = await fetchPage("/page/track?title=A%20track", {
      subtitles: ["en", "fr"],
      webhook,
    })
    expect(shown).toMatchObject({
      status: "success",
      title: "A track",
      content_type: "video/mp4",
      subtitles: [{ language: "en" }],
    })
    const media = await call(shown.download_url ?? "", { headers: { range: "bytes=4-7" } })
    expect([media.status, await media.text()]).toEqual([206, "ftyp"])
    const captions = await call(shown.subtitles[0]?.url ?? "")
    expect(captions.headers.get("content-type")).toContain("text/vtt")
    expect(await captions.text()).toMatch(/^WEBVTT/)
    const [event] = await receiver.untilReceived(1)
    expect(JSON.parse(event?.body ?? "")).toMatchObject({
      type: "fetch.succeeded",
      data: { id: shown.id, download_url: shown.download_url },
    })
    expect(await (await call("/files")).json()).toEqual([])
  })

  it("sends its caller's cookies, and shows them nowhere", async () => {
    expect(await fetchPage("/cookies/page")).toMatchObject({
      status: "failed",
      error_code: "login_required",
    })
    const host = new URL(site.origin).hostname
    const cookies = [host, "FALSE", "/", "FALSE", "0", COOKIE].join("\t")
    const shown = await fetchPage("/cookies/page", { cookies })
    expect(shown).toMatchObject({ status: "success", title: "For members" })
    expect(service.tail()).not.toContain(COOKIE)
    const again = await call(`/jobs/${shown.id}/retry`, { method: "POST" })
    expect(again.status).toBe(409)
  })

  it("can be canceled while it downloads", async () => {
    const answer = await post("/fetch", { url: site.url("/page/slow") })
    const { fetch_id } = created.parse(await answer.json())
    await expect
      .poll(() => site.requests.filter(({ path }) => path.startsWith("/as/slow.mp4")).length, {
        timeout: 30_000,
      })
      .toBeGreaterThan(0)
    expect((await call(`/jobs/${fetch_id}/cancel`, { method: "POST" })).status).toBe(200)
    const shown = record.parse(await (await call(`/fetch/${fetch_id}`)).json())
    expect(shown).toMatchObject({ status: "failed", error_code: "canceled" })
  })
})

describe("metadata", () => {
  it("is that of the page, requested once by both forms", async () => {
    const url = site.url("/page/json-ld?title=Facts")
    const read = await call(`/fetch/metadata?url=${encodeURIComponent(url)}`)
    const sent = await post("/fetch/metadata", { url })
    expect([read.status, sent.status]).toEqual([200, 200])
    const said = await read.json()
    expect(said).toMatchObject({
      url,
      title: "Facts",
      duration: JSON_LD_METADATA.duration,
      uploader: JSON_LD_METADATA.uploader,
    })
    expect(await sent.json()).toEqual(said)
    const asked = site.requests.filter(({ path }) => path.startsWith("/page/json-ld"))
    const times = asked.length
    await post("/fetch/metadata", { url })
    expect(site.requests.filter(({ path }) => path.startsWith("/page/json-ld"))).toHaveLength(times)
    const kinds = z.array(z.object({ kind: z.string() }))
    const jobs = kinds.parse(await (await call("/jobs?limit=100")).json())
    expect(jobs.map(({ kind }) => kind)).not.toContain("metadata")
  })

  it("is not requested from private hosts, directly or by redirects", async () => {
    const direct = await post("/fetch/metadata", { url: "http://127.0.0.1:1/" })
    expect(direct.status).toBe(422)
    const to = encodeURIComponent("http://127.0.0.1:1/")
    const led = await post("/fetch/metadata", { url: site.url(`/redirect/to?to=${to}`) })
    expect(led.status).toBe(422)
    expect(await led.text()).toContain("url_not_allowed")
  })
})
