import { beforeAll, describe, expect, it } from "vitest"
import { fetchWorker, makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeFetchResult, finishFetch } from "../../../support/media/fetched.ts"

let caller: TestCaller
let id: string

beforeAll(async () => {
  caller = await makeCaller("downloads what was fetched")
  const answer = await caller.post("/fetch", { url: "https://a.example/", subtitles: "en" })
  id = (await answer.json<{ fetch_id: string }>()).fetch_id
  await finishFetch(caller, id, makeFetchResult(["en"]))
})

async function linkOf(path: string): Promise<string> {
  const answer = await caller.call(path)
  expect(answer.status).toBe(302)
  expect(answer.headers.get("cache-control")).toBe("no-store")
  return answer.headers.get("location") ?? ""
}

describe("GET /fetch/{id}/{name}", () => {
  it("redirects to a link that needs no key and supports ranges", async () => {
    const link = await linkOf(`/fetch/${id}/A%20clip.mp4`)
    const whole = await fetchWorker(link)
    expect(whole.status).toBe(200)
    expect(whole.headers.get("content-type")).toBe("video/mp4")
    expect(whole.headers.get("content-disposition")).toBe('attachment; filename="A clip.mp4"')
    expect(await whole.text()).toBe("the media that was fetched")
    const part = await fetchWorker(link, { headers: { range: "bytes=4-8" } })
    expect([part.status, await part.text()]).toEqual([206, "media"])
  })

  it("has browsers show the file if requested", async () => {
    const shown = await fetchWorker(await linkOf(`/fetch/${id}/A%20clip.mp4?disposition=inline`))
    expect(shown.headers.get("content-disposition")).toBe('inline; filename="A clip.mp4"')
    await shown.body?.cancel()
  })

  it("links to subtitles in the same way", async () => {
    const subtitles = await fetchWorker(await linkOf(`/fetch/${id}/A%20clip.en.vtt`))
    expect(subtitles.headers.get("content-type")).toBe("text/vtt")
    expect(await subtitles.text()).toBe("WEBVTT")
  })

  it("answers 404 for other names and other accounts' fetches", async () => {
    for (const name of ["media", "A%20clip.MP4", "metadata"]) {
      expect((await caller.call(`/fetch/${id}/${name}`)).status).toBe(404)
    }
    const stranger = await makeCaller("a stranger to what was fetched")
    expect((await stranger.call(`/fetch/${id}/A%20clip.mp4`)).status).toBe(404)
  })

  it("asks to wait while the fetch is open, and names the cause of a failed fetch", async () => {
    const created = await caller.post("/fetch", { url: "https://a.example/" })
    const { fetch_id } = await created.json<{ fetch_id: string }>()
    const early = await caller.call(`/fetch/${fetch_id}/media`)
    expect([early.status, await early.json()]).toMatchObject([409, { code: "not_final" }])
    await caller.call(`/jobs/${fetch_id}/cancel`, { method: "POST" })
    const late = await caller.call(`/fetch/${fetch_id}/media`)
    const message = "The fetch failed and has no file: canceled: The job was canceled."
    expect([late.status, await late.json()]).toMatchObject([404, { code: "not_found", message }])
  })
})
