import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const run = promisify(execFile)

const PICTURE = "-f lavfi -i testsrc2=size=64x36:rate=10:d=4"
const SOUND = "-f lavfi -i sine=d=4"
const CODING = "-c:v libx264 -preset ultrafast -g 10 -c:a aac"
const TEST_ZIP = `import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps([archive.testzip(), [[i.filename, i.file_size] for i in archive.infolist()]]))`

const entry = z.object({
  name: z.string(),
  download_url: z.url(),
  size_bytes: z.number(),
  content_type: z.string(),
})
const output = entry.extend({
  id: z.string(),
  duration_seconds: z.number().optional(),
  files: z.array(entry).optional(),
})
const command = z.looseObject({
  id: z.string(),
  status: z.string(),
  error: z.string().optional(),
  error_code: z.string().optional(),
  output_files: z.record(z.string(), z.union([z.string(), output])),
})

let service: TestService
let key: string
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-bundles-"))
  service = await startService()
  key = await service.makeKey("bundles")
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers({ prefer: "wait=30", "x-api-key": key })
  headers.set("content-type", "application/json")
  const url = path.startsWith("http") ? path : `${service.origin}/v1${path}`
  return await fetch(url, { ...init, headers })
}

/** Runs a command without inputs and waits for its end. */
async function ffmpeg(line: string, ...names: string[]) {
  const output_files = Object.fromEntries(names.map((name, index) => [`out_${index + 1}`, name]))
  const body = JSON.stringify({ ffmpeg_command: `ffmpeg ${line}`, input_files: {}, output_files })
  return command.parse(await (await call("/commands", { method: "POST", body })).json())
}

/** The bundle that a command made under a key. */
function bundleOf(record: z.infer<typeof command>, name = "out_1") {
  expect([record.status, record.error]).toEqual(["success", undefined])
  return output.required({ files: true }).parse(record.output_files[name])
}

/** Seconds and number of streams that ffmpeg plays from a download_url with the key. */
async function play(url: string) {
  return await playFrom(url, ["-headers", `X-API-KEY: ${key}\r\n`])
}

/** The same from the link that the download_url leads to, which needs no key. */
async function playLink(url: string) {
  const redirect = await call(url, { redirect: "manual" })
  return await playFrom(redirect.headers.get("location") ?? "")
}

async function playFrom(address: string, options: string[] = []) {
  const decode = ["-v", "error", "-xerror", ...options, "-i", address, "-map", "0", "-f", "null"]
  await run("ffmpeg", [...decode, "-"])
  const entries = "-v error -of json -show_entries packet=pts_time,stream_index".split(" ")
  const words = [...entries, ...options, "-i", address]
  const { stdout } = await run("ffprobe", words, { maxBuffer: 64 * 1024 ** 2 })
  const packet = z.object({ stream_index: z.number(), pts_time: z.coerce.number() })
  const { packets } = z.object({ packets: z.array(packet) }).parse(JSON.parse(stdout))
  const times = packets.map(({ pts_time }) => pts_time)
  return {
    seconds: Math.max(...times) - Math.min(...times),
    streams: new Set(packets.map(({ stream_index }) => stream_index)).size,
  }
}

/** Fetches what each line of a playlist means beside it, as a browser's player would. */
async function follow(url: string): Promise<number[]> {
  const answer = await call(url)
  const lines = (await answer.text()).split("\n").filter((line) => line !== "" && line[0] !== "#")
  const fetched = lines.map(async (line) => {
    const media = await fetch(new URL(line, answer.url))
    return media.ok ? (await media.arrayBuffer()).byteLength : -media.status
  })
  return await Promise.all(fetched)
}

/** Downloads an archive, has it tested, and answers what is in it. */
async function unzip(url: string): Promise<{ fileName: string | null; files: [string, number][] }> {
  const answer = await call(url)
  const path = join(folder, "made.zip")
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(answer.headers.get("content-length")).toBe(String(bytes.length))
  await writeFile(path, bytes)
  await run("unzip", ["-tqq", path])
  const { stdout } = await run("python3", ["-c", TEST_ZIP, path])
  const [broken, files] = z
    .tuple([z.null(), z.array(z.tuple([z.string(), z.number()]))])
    .parse(JSON.parse(stdout))
  expect(broken).toBeNull()
  return { fileName: answer.headers.get("content-disposition"), files }
}

function sizes(files: z.infer<typeof entry>[]): [string, number][] {
  return files.map(({ name, size_bytes }) => [name, size_bytes])
}

describe("HLS", () => {
  it.each([
    ["MPEG-TS", "-hls_segment_type mpegts", ["film.m3u8", "film0.ts", "film1.ts"]],
    ["fMP4", "-hls_segment_type fmp4", ["film.m3u8", "film0.m4s", "film1.m4s", "init.mp4"]],
    ["one file", "-hls_flags single_file", ["film.m3u8", "film.ts"]],
  ])("in %s plays from its download_url", async (_, words, names) => {
    const record = await ffmpeg(
      `${PICTURE} ${SOUND} ${CODING} -f hls -hls_time 2 -hls_list_size 0 ${words} out_1`,
      "film.m3u8",
    )
    const film = bundleOf(record)
    expect(film.files.map(({ name }) => name)).toEqual(names)
    expect(film.content_type).toBe("application/vnd.apple.mpegurl")
    expect(film.duration_seconds).toBeCloseTo(4, 0)
    const played = await play(film.download_url)
    expect(played.streams).toBe(2)
    expect(played.seconds).toBeCloseTo(4, 0)
    expect(await playLink(film.download_url)).toEqual(played)
  })

  it("of several variants plays from its master playlist, and can be downloaded as a ZIP", async () => {
    const maps = "-map 0:v -map 1:a -map 0:v -map 1:a -b:v:0 100k -b:v:1 50k"
    const record = await ffmpeg(
      `${PICTURE} ${SOUND} ${maps} ${CODING} -f hls -hls_time 2 -hls_list_size 0 ` +
        `-master_pl_name master.m3u8 -var_stream_map 'v:0,a:0,name:high v:1,a:1,name:low' out_1`,
      "stream_%v.m3u8",
    )
    const streams = bundleOf(record)
    const urls = new Map(streams.files.map((file) => [file.name, file.download_url]))
    expect([...urls.keys()]).toEqual(
      expect.arrayContaining(["master.m3u8", "stream_high.m3u8", "stream_low.m3u8"]),
    )
    expect(await play(urls.get("master.m3u8") ?? "")).toMatchObject({ streams: 4 })
    expect(await play(urls.get("stream_low.m3u8") ?? "")).toMatchObject({ streams: 2 })
    const zip = await unzip(streams.download_url)
    expect(zip.fileName).toContain("stream.zip")
    expect(zip.files).toEqual(sizes(streams.files))
  })

  it("with spaces, umlauts and percent signs in names plays from its playlist", async () => {
    const record = await ffmpeg(
      `${PICTURE} ${CODING} -f hls -hls_time 2 -hls_segment_filename 'Teil ä 50%_%d.ts' out_1`,
      "Über 1.m3u8",
    )
    const film = bundleOf(record)
    const [, ...segments] = film.files
    expect(segments.map(({ name }) => name)).toEqual(["Teil ä 50%_0.ts", "Teil ä 50%_1.ts"])
    expect(await follow(film.download_url)).toEqual(segments.map(({ size_bytes }) => size_bytes))
    for (const { download_url, size_bytes } of segments) {
      const media = await call(download_url)
      expect(media.headers.get("content-type")).toBe("video/mp2t")
      expect((await media.arrayBuffer()).byteLength).toBe(size_bytes)
    }
  })
})

describe("DASH", () => {
  it("plays from its download_url, beside a second bundle", async () => {
    const record = await ffmpeg(
      `${PICTURE} ${SOUND} -map 0:v -map 1:a ${CODING} -f dash -seg_duration 2 out_2 ` +
        `-map 0:v -frames:v 3 out_1`,
      "still %02d.png",
      "film.mpd",
    )
    const film = bundleOf(record, "out_2")
    expect(film.content_type).toBe("application/dash+xml")
    expect(new Set(film.files.map((file) => file.content_type))).toEqual(
      new Set(["application/dash+xml", "video/iso.segment"]),
    )
    expect(await play(film.download_url)).toMatchObject({ streams: 2 })
    expect(await playLink(film.download_url)).toMatchObject({ streams: 2 })
    const stills = bundleOf(record)
    const zip = await unzip(stills.download_url)
    expect(zip).toEqual({
      fileName: "attachment; filename=still.zip",
      files: sizes(stills.files),
    })
    expect(zip.files.map(([name]) => name)).toEqual([
      "still 01.png",
      "still 02.png",
      "still 03.png",
    ])
  })
})
describe("a bundle of a failed command", () => {
  it("is absent, and the failure has its sentence", async () => {
    const half = await ffmpeg(`${PICTURE} ${CODING} -f hls out_1 -map 7 x.mp4`, "film.m3u8")
    expect([half.status, half.error_code]).toEqual(["failed", "stream_not_found"])
    expect(half.output_files).toEqual({ out_1: "film.m3u8" })
    const none = await ffmpeg(`${SOUND} other.wav -map 0 -f null out_1`, "film.m3u8")
    expect([none.error_code, none.error]).toEqual([
      "no_output",
      'The output out_1 ("film.m3u8") was not made: -f null writes no file.',
    ])
    const files = z.array(z.object({ id: z.string() })).parse(await (await call("/files")).json())
    expect(files.some(({ id }) => id === half.id || id === none.id)).toBe(false)
  })
})
