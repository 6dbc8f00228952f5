import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { openFetchStage } from "./fetch-stage.ts"
import type { FetchStage } from "./fetch-stage.ts"

const OUTPUTS = [
  { codec: "h264", resolution: "480p" },
  { codec: "vp9", resolution: "480p", container: "webm" },
]

const job = z.looseObject({
  id: z.uuid(),
  status: z.string(),
  progress: z.number().nullable(),
  outputs: z.array(z.looseObject({ url: z.url(), codec: z.string(), size_bytes: z.int() })),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
})

let stage: FetchStage
let site: FetchStage["site"]
let receiver: FetchStage["receiver"]
let call: FetchStage["call"]

beforeAll(async () => {
  stage = await openFetchStage("fetches and transcodes")
  ;({ site, receiver, call } = stage)
})

afterAll(() => stage[Symbol.asyncDispose]())

/** Has renditions made of what a page of the site has; answers the Job as its events told it. */
async function follow(path: string, changes: object = {}) {
  const transcode = { outputs: OUTPUTS }
  const body = JSON.stringify({ url: site.url(path), transcode, ...changes })
  const headers = { "content-type": "application/json" }
  const answer = await call("/fetch", { method: "POST", headers, body })
  expect(answer.status).toBe(202)
  return await followJob(job.parse(await answer.json()).id)
}

async function followJob(id: string) {
  const events = await (await call(`/jobs/${id}/events`)).text()
  return [...events.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => job.parse(JSON.parse(data)))
}

describe("a fetch with transcode", () => {
  it("encodes renditions of the fetched media, and again in a retry", async () => {
    const webhook_url = `${receiver.origin}/hook`
    const states = await follow("/page/track?title=A%20track", { subtitles: "en", webhook_url })
    const percents = states.map(({ progress }) => progress ?? 0)
    expect(percents).toEqual(percents.toSorted((one, other) => one - other))
    // The fetch is done, and the renditions are not.
    expect(percents.some((percent) => percent >= 30 && percent < 100)).toBe(true)
    const done = states.at(-1)
    expect(done).toMatchObject({ kind: "fetch", status: "completed", progress: 100 })
    await expectRenditions(done?.outputs ?? [])
    const [event] = await receiver.untilReceived(1)
    expect(JSON.parse(event?.body ?? "")).toMatchObject({ type: "fetch.succeeded", data: done })
    const shown = await (await call(`/fetch/${done?.id}`)).json()
    const { download_url, subtitles } = z
      .looseObject({ download_url: z.url(), subtitles: z.array(z.object({ url: z.url() })) })
      .parse(shown)
    expect(shown).toMatchObject({ status: "success", title: "A track", outputs: done?.outputs })
    const media = await call(download_url, { headers: { range: "bytes=4-7" } })
    expect([media.status, await media.text()]).toEqual([206, "ftyp"])
    expect(await (await call(subtitles[0]?.url ?? "")).text()).toMatch(/^WEBVTT/)

    const again = await call(`/jobs/${done?.id}/retry`, { method: "POST" })
    const retried = (await followJob(job.parse(await again.json()).id)).at(-1)
    expect(retried).toMatchObject({ status: "completed", retry_of: done?.id })
    await expectRenditions(retried?.outputs ?? [])
  })

  it.each([
    ["/page/gone", "not_found", /^The fetch failed: /],
    ["/page/audio", "no_video", /^The transcode failed: /],
  ])("names the failed half: %s", async (path, code, message) => {
    const failed = (await follow(path)).at(-1)
    expect(failed).toMatchObject({ status: "failed", outputs: [], error: { code } })
    expect(failed?.error?.message).toMatch(message)
  })
})

/** Expects two renditions that are whole Files, with what is said of them. */
async function expectRenditions(outputs: z.infer<typeof job>["outputs"]): Promise<void> {
  expect(outputs.map(({ codec }) => codec)).toEqual(["h264", "vp9"])
  for (const { url, codec, size_bytes, ...facts } of outputs) {
    const [, id = "", name] = /\/files\/([^/]+)\/([^/]+)$/.exec(url) ?? []
    expect(name).toMatch(codec === "h264" ? /_480p_h264\.mp4$/ : /_480p_vp9\.webm$/)
    expect((await (await call(url)).arrayBuffer()).byteLength).toBe(size_bytes)
    const file = z
      .looseObject({ ffprobe: z.looseObject({ width: z.int(), height: z.int() }) })
      .parse(await (await call(`/files/${id}`)).json())
    expect(file).toMatchObject({ source: "output", status: "success", download_url: url })
    const { width, height } = file.ffprobe
    expect(facts).toMatchObject({ resolution: `${width}x${height}` })
  }
}
