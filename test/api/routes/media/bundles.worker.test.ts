import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { BUNDLE_MEMBERS_MAX } from "../../../../src/contract/bundle.ts"
import { makeDownloadToken } from "../../../../src/objects/download-links.ts"
import { makeOutputObjectKey } from "../../../../src/domain/object-keys.ts"
import {
  findCallerAccountId,
  makeBundleReport,
  startCommandTask,
} from "../../../support/media/bundle.ts"
import { fetchWorker, makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { readStoredWebhook } from "../../../support/stored-webhook.ts"

type FileEntry = { name: string; download_url: string; size_bytes: number; content_type: string }
type Output = FileEntry & { id: string; files?: FileEntry[]; duration_seconds?: number }
type Command = { id: string; output_files: Record<string, Output> }

const HLS = "application/vnd.apple.mpegurl"
const PLAYLIST = "#EXTM3U\n#EXTINF:7,\nseg ä%1.ts\n"
const NAMES = ["list.m3u8", "seg ä%1.ts", "50%25.vtt", "x'(1)!.mp4"]

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("bundles")
})

/** Creates a command with a playlist of odd names, a series and a plain file. */
async function makeCommand(webhookUrl: string | null = null) {
  const names = { out_1: "list.m3u8", out_2: "frame_%03d.png", out_3: "plain.txt" }
  const task = await startCommandTask(caller, names, { webhookUrl })
  const list = [
    await task.store("out_1", "list.m3u8", PLAYLIST, HLS),
    await task.store("out_1", "seg ä%1.ts", "0123456789", "video/mp2t"),
    await task.store("out_1", "50%25.vtt", "WEBVTT", "text/vtt"),
    await task.store("out_1", "x'(1)!.mp4", "", "video/mp4"),
  ]
  const series = [
    await task.store("out_2", "frame_001.png", "one", "image/png"),
    await task.store("out_2", "frame_002.png", "two!", "image/png"),
  ]
  const put = { method: "PUT", headers: { "content-length": "5" }, body: "plain" }
  expect((await task.call("/outputs/out_3", put)).status).toBe(200)
  for (const key of ["out_1", "out_2"]) {
    const manifest = { method: "PUT", headers: { "content-length": "2" }, body: "{}" }
    expect((await task.call(`/outputs/${key}`, manifest)).status).toBe(200)
  }
  const told = await task.finish([
    { ...makeBundleReport("out_1", list, HLS), duration_seconds: 7000.333333 },
    makeBundleReport("out_2", series, "application/zip"),
    { key: "out_3", size_bytes: 5, content_type: "text/plain" },
  ])
  expect(told.status).toBe(200)
  return { task, outputs: (await readCommand(task.jobId)).output_files }
}

async function readCommand(id: string, owner = caller): Promise<Command> {
  const answer = await owner.call(`/commands/${id}`)
  if (!answer.ok) throw new Error(await answer.text())
  return await answer.json<Command>()
}

async function lengthOf(column: string, table: string, jobId: string): Promise<number | null> {
  const job = table === "jobs" ? "id" : "job_id"
  const query = `select length(cast(${column} as blob)) as n from ${table} where ${job} = ?`
  return await env.DB.prepare(query).bind(jobId).first<number>("n")
}

function outputOf(outputs: Record<string, Output>, key: string): Output & { files: FileEntry[] } {
  const output = outputs[key]
  if (!output?.files) throw new Error(`${key} is no bundle`)
  return { ...output, files: output.files }
}

/** Returns the link that a record's download_url redirects to. */
async function linkOf(url: string, owner = caller): Promise<string> {
  const redirect = await owner.call(url.replace("https://lathe.test/v1", ""))
  expect([url, redirect.status]).toEqual([url, 302])
  return redirect.headers.get("location") ?? ""
}

/** Replaces the name at the end of a link. */
function beside(link: string, name: string): string {
  return link.slice(0, link.lastIndexOf("/") + 1) + name
}

describe("the record of a command", () => {
  it("has the files of a bundle, its size and its type", async () => {
    const { outputs } = await makeCommand()
    const list = outputOf(outputs, "out_1")
    expect(list).toMatchObject({
      name: "list.m3u8",
      content_type: HLS,
      size_bytes: PLAYLIST.length + 1 + 16,
      duration_seconds: 7000.333333,
    })
    expect(list.files.map(({ name }) => name)).toEqual(NAMES)
    expect(list.files[1]).toEqual({
      name: "seg ä%1.ts",
      download_url: `https://lathe.test/v1/files/${list.id}/seg%20%C3%A4%251.ts`,
      size_bytes: 10,
      content_type: "video/mp2t",
    })
    const series = outputOf(outputs, "out_2")
    expect(series).toMatchObject({
      name: "frame.zip",
      content_type: "application/zip",
      size_bytes: 7,
      download_url: `https://lathe.test/v1/files/${series.id}/frame.zip`,
    })
    expect(outputs["out_3"]).not.toHaveProperty("files")
  })

  it("agrees with the File and the webhook, and with lists except for the files", async () => {
    const { task, outputs } = await makeCommand("https://receiver.example/")
    const list = outputOf(outputs, "out_1")
    const file = await (await caller.call(`/files/${list.id}`)).json<Output>()
    expect([file.files, file.duration_seconds]).toEqual([list.files, 7000.333333])
    expect(file).toMatchObject({ ffprobe: null })
    const files = await (await caller.call("/files")).json<Output[]>()
    expect(files.find(({ id }) => id === list.id)).toMatchObject({ duration_seconds: 7000.333333 })
    expect(files.find(({ id }) => id === list.id)).not.toHaveProperty("files")
    const commands = await (await caller.call("/commands")).json<Command[]>()
    const listed = commands.find(({ id }) => id === task.jobId)?.output_files
    const { files: _, ...headOfList } = list
    expect(listed).toMatchObject({ out_1: headOfList, out_3: outputs["out_3"] })
    for (const key of ["out_1", "out_2"]) expect(listed?.[key]).not.toHaveProperty("files")
    const { body } = await readStoredWebhook(task.jobId)
    expect(JSON.parse(body)).toMatchObject({ data: { output_files: outputs } })
  })

  it("holds the largest number of files of a command, which lists omit", async () => {
    const owner = await makeCaller("bundles-many")
    const webhookUrl = "https://receiver.example/"
    const task = await startCommandTask(owner, { out_1: "f_%d.png" }, { webhookUrl })
    const members = Array.from({ length: BUNDLE_MEMBERS_MAX }, (_, index) => ({
      name: `${"f".repeat(75)}_${index}`.slice(-80),
      size_bytes: 123_456_789,
      content_type: "application/vnd.apple.mpegurl",
      crc32: 0xffff_ffff,
    }))
    const told = await task.finish([makeBundleReport("out_1", members, "application/zip")])
    expect(told.status).toBe(200)
    const record = await readCommand(task.jobId, owner)
    expect(record.output_files["out_1"]?.files).toHaveLength(BUNDLE_MEMBERS_MAX)
    const [listed] = await (await owner.call("/commands")).json<Command[]>()
    expect(listed?.output_files["out_1"]).toMatchObject({ name: "f.zip" })
    expect(listed?.output_files["out_1"]).not.toHaveProperty("files")
    const [file] = await (await owner.call("/files")).json<Output[]>()
    expect(file).not.toHaveProperty("files")
    const whole = await (await owner.call(`/files/${file?.id}`)).json<Output>()
    expect(whole.files).toHaveLength(BUNDLE_MEMBERS_MAX)
    expect(await lengthOf("body", "deliveries", task.jobId)).toBeLessThan(10_000)
    expect(await lengthOf("result", "jobs", task.jobId)).toBeLessThan(10_000)
    expect(await lengthOf("bundle", "files", task.jobId)).toBeLessThan(10_000)
  })
})

describe("a playlist's download_url", () => {
  it("answers the playlist, and its members by relative names", async () => {
    const { outputs } = await makeCommand()
    const list = outputOf(outputs, "out_1")
    const link = await linkOf(list.download_url)
    const answer = await fetchWorker(link)
    expect([answer.headers.get("content-type"), await answer.text()]).toEqual([HLS, PLAYLIST])
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
    for (const { name, size_bytes, content_type } of list.files) {
      const media = await fetchWorker(beside(link, encodeURIComponent(name)))
      const { length } = await media.arrayBuffer().then((body) => new Uint8Array(body))
      expect([name, media.status, length]).toEqual([name, 200, size_bytes])
      expect(media.headers.get("content-type")).toBe(content_type)
    }
  })

  it("serves members with ranges and ETags, as it does plain files", async () => {
    const { outputs } = await makeCommand()
    const [, segment] = outputOf(outputs, "out_1").files
    const link = await linkOf(segment?.download_url ?? "")
    const part = await fetchWorker(link, { headers: { range: "bytes=2-4" } })
    expect([part.status, await part.text()]).toEqual([206, "234"])
    expect(part.headers.get("content-range")).toBe("bytes 2-4/10")
    const etag = part.headers.get("etag") ?? ""
    expect((await fetchWorker(link, { headers: { "if-none-match": etag } })).status).toBe(304)
    const head = await fetchWorker(link, { method: "HEAD" })
    expect([head.headers.get("content-length"), await head.text()]).toEqual(["10", ""])
  })

  it("reads a percent sign in a line of a playlist literally", async () => {
    const { outputs } = await makeCommand()
    const link = await linkOf(outputOf(outputs, "out_1").download_url)
    const media = await fetchWorker(beside(link, "50%25.vtt"))
    expect([media.status, await media.text()]).toEqual([200, "WEBVTT"])
    const odd = await fetchWorker(beside(link, "seg%20%C3%A4%1.ts"))
    expect([odd.status, (await odd.arrayBuffer()).byteLength]).toEqual([200, 10])
  })

  it("is valid for the playing time of the playlist", async () => {
    const { outputs } = await makeCommand()
    async function expiryOf(url: string): Promise<number> {
      const { headers } = await fetchWorker(await linkOf(url), { method: "HEAD" })
      return Number(/max-age=(\d+)/.exec(headers.get("cache-control") ?? "")?.[1])
    }
    const list = outputOf(outputs, "out_1")
    expect(await expiryOf(list.download_url)).toBeCloseTo(7300, -1)
    expect(await expiryOf(list.files[1]?.download_url ?? "")).toBeCloseTo(7300, -1)
    expect(await expiryOf(outputOf(outputs, "out_2").download_url)).toBeCloseTo(300, -1)
  })

  it("opens no other file", async () => {
    const { outputs } = await makeCommand()
    const otherList = outputOf((await makeCommand()).outputs, "out_1")
    const link = await linkOf(outputOf(outputs, "out_1").download_url)
    const names = ["frame_001.png", "frame_%2503d.png", "plain.txt", "media", "..%2Fmedia"]
    for (const name of [...names, "..%2F..%2Fout_2%2Fmembers%2Fframe_001.png", "nothing.ts"]) {
      expect([name, (await fetchWorker(beside(link, name))).status]).toEqual([name, 404])
    }
    const place = new URL(link)
    const [, , token = ""] = place.pathname.split("/")
    const [, , foreign = ""] = new URL(await linkOf(otherList.download_url)).pathname.split("/")
    const [payload = ""] = foreign.split(".")
    const [, signature = ""] = token.split(".")
    expect((await fetchWorker(`/media/${payload}.${signature}/list.m3u8`)).status).toBe(403)
    const stranger = await makeCaller("bundles-stranger")
    const path = `/files/${otherList.id}/list.m3u8`
    expect((await stranger.call(path)).status).toBe(404)
  })

  it("gets a 410 after its expiry, for members too", async () => {
    const { outputs } = await makeCommand()
    const list = outputOf(outputs, "out_1")
    const objectKey = `${await findCallerAccountId(caller)}/outputs/${list.id}/media`
    const opens = { kind: "playlist", objectKey } as const
    const late = await makeDownloadToken(env.LATHE_SECRET ?? "", {
      opens,
      expiresAt: Date.now() - 1,
      disposition: "inline",
    })
    for (const name of NAMES) {
      expect((await fetchWorker(`/media/${late}/${encodeURIComponent(name)}`)).status).toBe(410)
    }
  })
})

describe("a series' download_url", () => {
  it("answers a ZIP with its length and the name of the pattern", async () => {
    const { outputs } = await makeCommand()
    const link = await linkOf(outputOf(outputs, "out_2").download_url)
    const head = await fetchWorker(link, { method: "HEAD" })
    const answer = await fetchWorker(link)
    expect([answer.status, answer.headers.get("accept-ranges")]).toEqual([200, "bytes"])
    expect(answer.headers.get("content-type")).toBe("application/zip")
    expect(answer.headers.get("content-disposition")).toBe("attachment; filename=frame.zip")
    const bytes = new Uint8Array(await answer.arrayBuffer())
    expect(answer.headers.get("content-length")).toBe(String(bytes.length))
    expect(head.headers.get("content-length")).toBe(String(bytes.length))
    const text = new TextDecoder("latin1").decode(bytes)
    expect(text.startsWith("PK\u0003\u0004")).toBe(true)
    expect(text.split("PK\u0001\u0002")).toHaveLength(3)
    expect(text).toContain("frame_001.pngone")
    expect(text).toContain("frame_002.pngtwo!")
  })

  it("answers each range of a ZIP with the bytes that the whole has there", async () => {
    const { outputs } = await makeCommand()
    const link = await linkOf(outputOf(outputs, "out_2").download_url)
    const whole = new Uint8Array(await (await fetchWorker(link)).arrayBuffer())
    for (let start = 0; start < whole.length; start += 7) {
      for (const end of [start, start + 40, whole.length - 1].filter(
        (each) => each < whole.length,
      )) {
        const answer = await fetchWorker(link, { headers: { range: `bytes=${start}-${end}` } })
        expect(answer.status).toBe(206)
        const range = `bytes ${start}-${end}/${whole.length}`
        expect(answer.headers.get("content-range")).toBe(range)
        expect(answer.headers.get("content-length")).toBe(String(end - start + 1))
        expect(new Uint8Array(await answer.arrayBuffer())).toEqual(whole.subarray(start, end + 1))
      }
    }
    expect((await fetchWorker(link, { headers: { range: `bytes=${whole.length}-` } })).status).toBe(
      416,
    )
  })

  it("has the same ETag at each request, and answers conditions on it", async () => {
    const { outputs } = await makeCommand()
    const link = await linkOf(outputOf(outputs, "out_2").download_url)
    const etag = (await fetchWorker(link, { method: "HEAD" })).headers.get("etag") ?? ""
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
    const again = await fetchWorker(link, { headers: { "if-none-match": etag } })
    expect([again.status, again.headers.get("etag")]).toEqual([304, etag])
    expect((await fetchWorker(link, { headers: { "if-match": '"other"' } })).status).toBe(412)
    const range = { range: "bytes=1-2" }
    for (const [version, status] of [
      [etag, 206],
      ['"other"', 200],
    ] as const) {
      const answer = await fetchWorker(link, { headers: { ...range, "if-range": version } })
      expect(answer.status).toBe(status)
      await answer.body?.cancel()
    }
  })

  it("leads to single pictures by their names", async () => {
    const { outputs } = await makeCommand()
    const [, second] = outputOf(outputs, "out_2").files
    const media = await fetchWorker(await linkOf(second?.download_url ?? ""))
    expect([media.headers.get("content-type"), await media.text()]).toEqual(["image/png", "two!"])
  })

  it("ends short if a picture is missing, so that clients notice", async () => {
    const { task, outputs } = await makeCommand()
    const link = await linkOf(outputOf(outputs, "out_2").download_url)
    const prefix = makeOutputObjectKey(task.accountId, task, "out_2").replace(/media$/, "members/")
    await env.MEDIA.delete(`${prefix}frame_002.png`)
    await expect(fetchWorker(link).then((answer) => answer.arrayBuffer())).rejects.toThrow(/./)
    await env.MEDIA.delete(`${prefix}frame_001.png`)
    expect((await fetchWorker(link)).status).toBe(404)
  })
})
