import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { commandRecord } from "../corpus/account.ts"
import { startService } from "./service.ts"
import type { TestService } from "./service.ts"

const run = promisify(execFile)

const output = z.looseObject({ id: z.string(), name: z.string(), download_url: z.url() })
const command = commandRecord.extend({
  total_processing_seconds: z.number(),
  progress: z.number().nullable(),
  output_files: z.record(z.string(), z.union([z.string(), output])),
})
const file = z.looseObject({
  id: z.string(),
  status: z.string(),
  download_url: z.url(),
  error: z.string().optional(),
  ffprobe_error: z.string().optional(),
  ffprobe: z
    .looseObject({ width: z.number().optional(), duration: z.number().optional() })
    .optional(),
})

let service: TestService
let key: string
let folder: string
let clip: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-commands-"))
  const path = join(folder, "clip.mp4")
  const sources = ["testsrc2=s=160x120:r=10:d=2", "sine=d=2"].flatMap((s) => [
    "-f",
    "lavfi",
    "-i",
    s,
  ])
  await run("ffmpeg", ["-v", "error", ...sources, "-c:v", "libx264", "-c:a", "aac", path])
  service = await startService()
  key = await service.makeKey("commands")
  clip = (await upload("clip.mp4", await readFile(path))).id
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { prefer: "wait=30", ...Object.fromEntries(new Headers(init.headers)) }
  const url = path.startsWith("http") ? path : `${service.origin}/v1${path}`
  return await fetch(url, { ...init, headers: { ...headers, "x-api-key": key } })
}

/** Uploads a file and waits for its probe, unless `prefer` says otherwise. */
async function upload(name: string, content: string | Buffer, prefer = "wait=30") {
  const body = new FormData()
  body.append("file", new Blob([content]), name)
  const answer = await call("/files", { method: "POST", body, headers: { prefer } })
  return file.parse(await answer.json())
}

/** Runs commands on files and waits for their end. */
async function ffmpeg(
  lines: string | string[],
  input_files: Record<string, string>,
  output_files: Record<string, string> = { out_1: "out.mp4" },
) {
  const asked = typeof lines === "string" ? { ffmpeg_command: lines } : { ffmpeg_commands: lines }
  const answer = await call("/commands", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...asked, input_files, output_files }),
  })
  return command.parse(await answer.json())
}

/** What ffprobe says of an output that was downloaded. */
async function download(record: z.infer<typeof command>, name = "out_1") {
  expect([record.status, record.processing_errors]).toEqual(["success", undefined])
  const made = output.parse(record.output_files[name])
  const answer = await call(made.download_url)
  const path = join(folder, made.name)
  await writeFile(path, Buffer.from(await answer.arrayBuffer()))
  const { stdout } = await run("ffprobe", [
    "-v",
    "error",
    "-of",
    "json",
    "-show_streams",
    "-show_format",
    path,
  ])
  return z
    .object({
      streams: z.array(z.looseObject({})),
      format: z.looseObject({ duration: z.string() }),
    })
    .parse(JSON.parse(stdout))
}

describe("a file", () => {
  it("has what ffprobe says of it", async () => {
    const found = file.parse(await (await call(`/files/${clip}`)).json())
    expect(found).toMatchObject({
      status: "success",
      ffprobe: { width: 160, height: 120, format_name: expect.stringContaining("mp4") },
    })
    expect(found.ffprobe?.duration).toBeCloseTo(2, 0)
  })

  it.each(["notes.txt", "film.mp4"])(
    "that is no media fails with a sentence as %s",
    async (name) => {
      const found = await upload(name, "Nothing to see here.\n".repeat(20))
      expect(found.status).toBe("failed")
      expect(found.ffprobe_error).toMatch(/^[A-Z].*\.$/)
      expect(found.error).toBe(found.ffprobe_error)
      expect((await call(found.download_url)).status).toBe(200)
    },
  )

  it("whose upload is cut off leaves nothing behind", async () => {
    const before = z.array(file).parse(await (await call("/files")).json())
    const cut = request(`${service.origin}/v1/files`, {
      method: "POST",
      headers: {
        "x-api-key": key,
        "content-type": "multipart/form-data; boundary=b",
        "content-length": 50_000_000,
      },
    })
    cut.on("error", () => undefined)
    cut.write('--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp4"\r\n\r\n')
    cut.write(Buffer.alloc(12_000_000, 1))
    await sleep(500)
    cut.destroy()
    await sleep(500)
    expect(z.array(file).parse(await (await call("/files")).json())).toEqual(before)
  })
})

describe("a command", () => {
  function one() {
    return { in_1: `svc_id://${clip}` }
  }

  it("scales a clip, and says what came of it", async () => {
    const record = await ffmpeg("ffmpeg -i {{in_1}} -vf scale=80:-2 {{out_1}}", one())
    const { streams } = await download(record)
    expect(streams[0]).toMatchObject({ codec_name: "h264", width: 80, height: 60 })
    expect(record).toMatchObject({
      progress: 100,
      output_files: {
        out_1: { name: "out.mp4", content_type: "video/mp4", width: 80, height: 60 },
      },
    })
    expect(record.total_processing_seconds).toBeGreaterThan(0)
  })

  it("works in two passes whose log stays between them", async () => {
    const rate = "-c:v libx264 -b:v 100k -passlogfile log"
    const record = await ffmpeg(
      [
        `ffmpeg -i in_1 ${rate} -pass 1 -an -f null /dev/null`,
        `-i {{in_1}} ${rate} -pass 2 -c:a copy \\{\\{out_1\\}\\}`,
      ],
      one(),
    )
    expect((await download(record)).streams).toHaveLength(2)
  })

  it("joins inputs by a list that names them, and burns in subtitles by a bare key", async () => {
    const list = await upload("list.txt", "file 'in_1.mp4'\nfile 'in_1.mp4'\n")
    const subtitles = await upload("s.srt", "1\n00:00:00,000 --> 00:00:01,000\nHello\n")
    const record = await ffmpeg("ffmpeg -f concat -i in_2 -vf subtitles=in_3 -c:a copy out_1", {
      ...one(),
      in_2: `svc_id://${list.id}`,
      in_3: subtitles.download_url,
    })
    expect(Number((await download(record)).format.duration)).toBeGreaterThan(3.5)
  })

  it("makes several outputs, one of them by two entries, each a File of its own", async () => {
    const record = await ffmpeg(
      [
        "-i in_1 -map 0:v -c copy out_1 -map 0:a -c copy out_2",
        "-i out_1 -vf hflip -f matroska out_3",
      ],
      one(),
      { out_1: "picture.mp4", out_2: "sound.m4a", out_3: "flipped.mkv" },
    )
    const streams = [
      await download(record),
      await download(record, "out_2"),
      await download(record, "out_3"),
    ]
    expect(streams.map((made) => made.streams.length)).toEqual([1, 1, 1])
    const { id } = output.parse(record.output_files["out_2"])
    const again = await ffmpeg(
      "ffmpeg -i in_1 -c copy out_1",
      { in_1: `svc_id://${id}` },
      { out_1: "a.m4a" },
    )
    expect(again.status).toBe("success")
  })

  it("needs no input, and waits for one that is not probed yet", async () => {
    const made = await ffmpeg("ffmpeg -f lavfi -i testsrc=d=0.2 -pix_fmt yuv420p out_1", {})
    expect(made.status).toBe("success")
    const fresh = await upload("clip.mp4", await readFile(join(folder, "clip.mp4")), "")
    expect(fresh.status).toBe("pending")
    const record = await ffmpeg("ffmpeg -i in_1 -c copy out_1", { in_1: `svc_id://${fresh.id}` })
    expect(record.status).toBe("success")
  })

  it.each([
    ["an encoder that is not there", "-c:v nonsense", "encoder_not_found"],
    ["an option that is not there", "-nonsense 1", "invalid_option"],
    ["a filter that is not there", "-vf nonsense", "filter_error"],
    ["a stream that is not there", "-map 0:7", "stream_not_found"],
  ])("fails with a sentence for %s", async (_, words, code) => {
    const record = await ffmpeg(`ffmpeg -i in_1 ${words} out_1`, one())
    expect([record.status, record.error_code]).toEqual(["failed", code])
    expect(record.processing_errors?.[0]).toBe(record.error)
    expect(record.error).toMatch(/^[A-Z"].*\.$/)
    expect(JSON.stringify(record)).not.toContain(service.stateDir)
    expect(record.output_files).toEqual({ out_1: "out.mp4" })
  })

  it("fails where the input is no media", async () => {
    const text = await upload("text.mp4", "no film")
    const record = await ffmpeg("ffmpeg -i in_1 out_1", { in_1: `svc_id://${text.id}` })
    expect([record.status, record.error_code]).toEqual(["failed", "invalid_input"])
  })
})
