import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { collectGarbage } from "../../../../src/objects/collect-garbage.ts"
import { openDirectory } from "../../../../src/db/database.ts"
import { makeOutputObjectKey, getFileKeyPrefix } from "../../../../src/domain/object-keys.ts"
import { makeBundleReport, startCommandTask } from "../../../support/media/bundle.ts"
import type { RunningTask } from "../../../support/media/bundle.ts"
import { fetchWorker, makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("bundle-ways")
})

/** Creates a command with a series of two pictures. */
async function makeSeries() {
  const task = await startCommandTask(caller, { out_1: "frame_%03d.png" })
  const members = [
    await task.store("out_1", "frame_001.png", "one", "image/png"),
    await task.store("out_1", "frame_002.png", "two!", "image/png"),
  ]
  const manifest = { method: "PUT", headers: { "content-length": "2" }, body: "{}" }
  expect((await task.call("/outputs/out_1", manifest)).status).toBe(200)
  const told = await task.finish([makeBundleReport("out_1", members, "application/zip")])
  expect(told.status).toBe(200)
  const url = `https://lathe.test/v1/files/${task.fileIds["out_1"]}/frame_001.png`
  return { task, id: task.fileIds["out_1"] ?? "", url, prefix: prefixIn(task) }
}

/** Returns the prefix of an output. */
function prefixIn(task: RunningTask): string {
  return getFileKeyPrefix(makeOutputObjectKey(task.accountId, task, "out_1"))
}

describe("an uploaded member", () => {
  it.each(["a%2Fb", "a%5Cb", "a%0Ab", "%00", "%ff", "", "a".repeat(241)])(
    "is refused under the name %s",
    async (name) => {
      const task = await startCommandTask(caller, { out_1: "f_%d.png" })
      const put = { method: "PUT", headers: { "content-length": "1" }, body: "x" }
      const answer = await task.call(`/outputs/out_1/members/${name}`, put)
      expect([400, 404]).toContain(answer.status)
      const prefix = prefixIn(task)
      const { objects } = await env.MEDIA.list({ prefix })
      expect(objects.filter(({ key }) => key !== `${prefix}media`)).toEqual([])
    },
  )

  it("is refused at another fence and for another task", async () => {
    const task = await startCommandTask(caller, { out_1: "f_%d.png" })
    const other = await startCommandTask(caller, { out_1: "f_%d.png" })
    const put = { method: "PUT", headers: { "content-length": "1" }, body: "x" }
    const path = "/outputs/out_1/members/f_1.png"
    await env.DB.prepare("update tasks set fence = 2 where id = ?").bind(task.taskId).run()
    expect((await task.call(path, put)).status).toBe(410)
    expect((await other.call(`/../${task.taskId}${path}`, put)).status).toBe(401)
  })

  it("may be uploaded in parts", async () => {
    const task = await startCommandTask(caller, { out_1: "f_%d.png" })
    const place = "/outputs/out_1/members/f%201.png"
    const begun = await task.call(`${place}/parts`, { method: "POST" })
    const { upload_id } = await begun.json<{ upload_id: string }>()
    const query = `?upload_id=${encodeURIComponent(upload_id)}`
    const body = "x".repeat(6 * 1024 * 1024)
    const part = await task.call(`${place}/parts/1${query}`, { method: "PUT", body })
    const parts = [{ part_number: 1, ...(await part.json<{ etag: string }>()) }]
    const whole = { method: "POST", body: JSON.stringify({ parts }) }
    expect((await task.call(`${place}/parts/complete${query}`, whole)).status).toBe(200)
    const key = `${prefixIn(task)}members/f 1.png`
    expect((await env.MEDIA.head(key))?.size).toBe(body.length)
  })
})

describe("a bundle as an input", () => {
  it("is refused, by its id and by the URL of one of its files", async () => {
    const { id, url } = await makeSeries()
    for (const reference of [`svc_id://${id}`, url]) {
      const answer = await caller.post("/commands", {
        ffmpeg_command: "ffmpeg -i in_1 out_1",
        input_files: { in_1: reference },
        output_files: { out_1: "a.mp4" },
      })
      expect(answer.status).toBe(422)
      const { details } = await answer.json<{ details: { field: string; message: string }[] }>()
      expect(details[0]?.field).toBe("input_files.in_1")
      expect(details[0]?.message).toMatch(
        /^"frame\.zip" is a series of files, and a command takes single files/,
      )
    }
  })
})

describe("a delete", () => {
  it.each(["file", "command"])("of the %s leaves nothing of a bundle", async (what) => {
    const { task, id, url, prefix } = await makeSeries()
    const redirect = await caller.call(url.replace("https://lathe.test/v1", ""))
    const link = redirect.headers.get("location") ?? ""
    expect((await fetchWorker(link, { method: "HEAD" })).status).toBe(200)
    // The bundle's own object, its two members and their list.
    expect((await env.MEDIA.list({ prefix })).objects).toHaveLength(4)
    const path = what === "file" ? `/files/${id}` : `/commands/${task.jobId}`
    expect((await caller.call(path, { method: "DELETE" })).status).toBe(200)
    expect((await fetchWorker(link)).status).toBe(404)
    await collectGarbage(env, openDirectory(env), Date.now())
    expect((await env.MEDIA.list({ prefix })).objects).toEqual([])
  })

  it("of a lost attempt happens after the next attempt has ended", async () => {
    const task = await startCommandTask(caller, { out_1: "f_%d.png" })
    await task.store("out_1", "f_1.png", "one")
    const prefix = prefixIn(task)
    const at = new Date().toISOString()
    const told = { kind: "interrupted", boot: "boot", at, processing_seconds: 1 }
    const body = JSON.stringify(told)
    expect((await task.call("/reports", { method: "POST", body })).status).toBe(200)
    await collectGarbage(env, openDirectory(env), Date.now())
    expect((await env.MEDIA.list({ prefix })).objects).toEqual([])
  })
})

describe("the name of an output", () => {
  async function check(output_files: Record<string, string>) {
    const keys = Object.keys(output_files).join(" ")
    const clip = await uploadTestFile(caller, "clip.png", "x")
    const answer = await caller.post("/commands", {
      ffmpeg_command: `ffmpeg -i in_1 ${keys}`,
      input_files: { in_1: `svc_id://${clip.id}` },
      output_files,
    })
    const { details } = await answer.json<{ details?: { field: string; message: string }[] }>()
    return details?.find(({ field }) => field.startsWith("output_files."))?.message ?? answer.status
  }

  it.each([
    ..."f_%d.png %03d.png s_%v.ts s_%v_%d.ts 50%%_%d.png a.m3u8 A.MPD".split(" "),
    ..."f_%s.png 100%.mp4 %Y-%m.ts 50%%.mp4 50%_%d.png f_*.png f_?.m3u8 -%d.png".split(" "),
  ])("may be %s", async (name) => {
    expect(await check({ out_1: name })).toBe(202)
  })

  it.each([
    ["%v%v%d.ts", /^expected at most 2 fields/],
    ["a/%d.png", /^expected a file name without a folder/],
    ["in_%d.png", /^another file of this command is called in_1\.png/],
  ])("may not be %s", async (name, sentence) => {
    expect(await check({ out_1: name })).toMatch(sentence)
  })

  it("may not match the pattern of a series", async () => {
    const names = { out_1: "f_%03d.png", out_2: "f_001.png" }
    expect(await check(names)).toBe("another file of this command is called f_%03d.png")
  })

  it("is compared in bounded time", async () => {
    const before = performance.now()
    const names = { out_1: `${"%v".repeat(110)}a.png`, out_2: `${"x".repeat(180)}b.png` }
    expect(await check(names)).toMatch(/^expected at most 2/)
    expect(performance.now() - before).toBeLessThan(15_000)
  })
})
