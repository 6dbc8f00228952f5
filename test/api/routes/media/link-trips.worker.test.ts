import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { collectGarbage } from "../../../../src/objects/collect-garbage.ts"
import { openDirectory } from "../../../../src/db/database.ts"
import { makeBundleReport, startCommandTask } from "../../../support/media/bundle.ts"
import { fetchWorker, makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeCommandBody } from "../../../support/media/command-request.ts"
import { recordD1RoundTrips } from "../../../support/db/counted-trips.ts"
import { makeFetchResult, finishFetch } from "../../../support/media/fetched.ts"
import { finishTranscription } from "../../../support/media/transcribed.ts"

const HLS = "application/vnd.apple.mpegurl"
const LINK_LENGTH_MAX = 2048

/**
 * Periodic statements: keys are read and requests counted from time to time, and dispatchers check
 * their queue.
 */
const BY_TIME = /^(?:select (?:keys|accounts|tasks)|insert usage_days, update keys)$/

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("link trips")
})

/** Follows a path to its link; also returns the round trips. */
async function follow(path: string): Promise<{ link: string; trips: string[] }> {
  let link = ""
  const trips = await recordD1RoundTrips(async () => {
    const redirect = await caller.call(path)
    expect([path, redirect.status]).toEqual([path, 302])
    link = redirect.headers.get("location") ?? ""
  })
  return { link, trips: trips.filter((trip) => !BY_TIME.test(trip)) }
}

/** Reads the target of a link, and expects no round trip. */
async function open(link: string, init: RequestInit = {}): Promise<Response> {
  let answer = new Response()
  const trips = await recordD1RoundTrips(async () => {
    answer = await fetchWorker(link, init)
  })
  expect(trips.filter((trip) => !BY_TIME.test(trip))).toEqual([])
  return answer
}

/** Creates a command with a playlist and a series. */
async function makeBundles() {
  const task = await startCommandTask(caller, { out_1: "list.m3u8", out_2: "frame_%03d.png" })
  const list = [
    await task.store("out_1", "list.m3u8", "#EXTM3U\na.ts\n", HLS),
    await task.store("out_1", "a.ts", "0123456789", "video/mp2t"),
  ]
  const series = [await task.store("out_2", "frame_001.png", "one", "image/png")]
  for (const key of ["out_1", "out_2"]) {
    const manifest = { method: "PUT", headers: { "content-length": "2" }, body: "{}" }
    expect((await task.call(`/outputs/${key}`, manifest)).status).toBe(200)
  }
  const reports = [
    makeBundleReport("out_1", list, HLS),
    makeBundleReport("out_2", series, "application/zip"),
  ]
  expect((await task.finish(reports)).status).toBe(200)
  return task
}

describe("a download", () => {
  it("of a file takes one round trip to D1 for the link, and none for the bytes", async () => {
    const file = await uploadTestFile(caller, "ten.txt", "0123456789")
    const { link, trips } = await follow(`/files/${file.id}/ten.txt`)
    expect(trips).toEqual(["select files"])
    expect(await (await open(link)).text()).toBe("0123456789")
    const part = await open(link, { headers: { range: "bytes=-2" } })
    expect([part.status, await part.text()]).toEqual([206, "89"])
    const beside = link.replace(/ten\.txt$/, "other.txt")
    expect((await open(beside)).status).toBe(404)
  })

  it("of a playlist takes no more, for each of its segments", async () => {
    const { fileIds } = await makeBundles()
    const { link, trips } = await follow(`/files/${fileIds["out_1"]}/list.m3u8`)
    expect(trips).toEqual(["select files"])
    expect(await (await open(link)).text()).toContain("a.ts")
    const segment = link.replace(/list\.m3u8$/, "a.ts")
    const whole = await open(segment)
    expect([whole.headers.get("content-type"), await whole.text()]).toEqual([
      "video/mp2t",
      "0123456789",
    ])
    for (const [range, status] of [
      ["bytes=2-4", 206],
      ["bytes=10-", 416],
    ] as const) {
      const part = await open(segment, { headers: { range } })
      expect(part.status).toBe(status)
      await part.body?.cancel()
    }
    const absent = link.replace(/list\.m3u8$/, "b.ts")
    expect((await open(absent, { headers: { range: "bytes=0-1" } })).status).toBe(404)
  })

  it("of a series takes no more, as an archive or for a single picture", async () => {
    const { fileIds } = await makeBundles()
    const { link } = await follow(`/files/${fileIds["out_2"]}/frame.zip`)
    const archive = await open(link)
    expect(new Uint8Array(await archive.arrayBuffer())).toHaveLength(
      Number(archive.headers.get("content-length")),
    )
    expect(await (await open(link.replace(/frame\.zip$/, "frame_001.png"))).text()).toBe("one")
  })

  it("of fetched media and of a transcript takes no more", async () => {
    const fetched = await caller.post("/fetch", { url: "https://a.example/" })
    const { fetch_id: fetchId } = await fetched.json<{ fetch_id: string }>()
    await finishFetch(caller, fetchId, makeFetchResult())
    const talk = await uploadTestFile(caller, "talk.mp3", "sound")
    const said = await caller.post("/transcribe", { file_url: `svc_id://${talk.id}` })
    const { transcribe_id: id } = await said.json<{ transcribe_id: string }>()
    await finishTranscription(caller, id)
    for (const path of [`/fetch/${fetchId}/A%20clip.mp4`, `/transcribe/${id}/transcript.srt`]) {
      const { link, trips } = await follow(path)
      expect(trips).toEqual(["select jobs"])
      const answer = await open(link)
      expect(answer.status).toBe(200)
      await answer.body?.cancel()
    }
  })
})

describe("a link", () => {
  it("stays below the length limit of URLs, for the longest name", async () => {
    const name = `${"n".repeat(196)}.txt`
    const file = await uploadTestFile(caller, name, "x")
    const { link } = await follow(`/files/${file.id}/${name}`)
    expect(link.length).toBeLessThan(LINK_LENGTH_MAX / 2)
    expect((await open(link)).status).toBe(200)
  })
})

describe("a link to a deleted file", () => {
  it("is invalid once the DELETE is answered, for a bundle and for all outputs of a job", async () => {
    for (const what of ["file", "command"]) {
      const { fileIds, jobId } = await makeBundles()
      const list = await follow(`/files/${fileIds["out_1"]}/list.m3u8`)
      const links = [list.link, list.link.replace(/list\.m3u8$/, "a.ts")]
      const path = what === "file" ? `/files/${fileIds["out_1"]}` : `/commands/${jobId}`
      expect((await caller.call(path, { method: "DELETE" })).status).toBe(200)
      for (const link of links)
        expect([what, (await fetchWorker(link)).status]).toEqual([what, 404])
    }
  })

  it("stays valid while a run reads the file, and no longer", async () => {
    const file = await uploadTestFile(caller, "read.txt", "x")
    const created = await caller.post("/commands", makeCommandBody(file.id))
    const { command_id: id } = await created.json<{ command_id: string }>()
    const setState = env.DB.prepare("update tasks set state = ? where job_id = ?")
    await setState.bind("running", id).run()
    const { link } = await follow(`/files/${file.id}/read.txt`)
    expect((await caller.call(`/files/${file.id}`, { method: "DELETE" })).status).toBe(200)
    expect((await caller.call(`/files/${file.id}/read.txt`)).status).toBe(404)
    expect(await (await fetchWorker(link)).text()).toBe("x")
    await setState.bind("succeeded", id).run()
    await collectGarbage(env, openDirectory(env), Date.now())
    expect((await fetchWorker(link)).status).toBe(404)
  })
})
