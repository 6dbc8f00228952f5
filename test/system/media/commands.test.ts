import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { commandRecord } from "../../corpus/account.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

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
    .nullable(),
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
async function upload(name: string, content: string | Buffer, prefer = "wait=30", type = "") {
  const body = new FormData()
  body.append("file", new Blob([content], { type }), name)
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

/** Probe of a downloaded output. */
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
  it("has the metadata of ffprobe", async () => {
    const found = file.parse(await (await call(`/files/${clip}`)).json())
    expect(found).toMatchObject({
      status: "success",
      ffprobe: { width: 160, height: 120, format_name: expect.stringContaining("mp4") },
    })
    expect(found.ffprobe?.duration).toBeCloseTo(2, 0)
  })

  it("without media is a success with a warning, and an input of commands", async () => {
    const cube = "LUT_3D_SIZE 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n"
    const samples = Buffer.alloc(64_000, "\x00\x10\x20\x30")
    const [lut, sound] = [await upload("look.cube", cube), await upload("a.s16le", samples)]
    for (const found of [lut, sound]) {
      expect(found).toMatchObject({ status: "success", ffprobe: null })
      expect(found["warnings"]).toMatchObject([{ code: "not_media" }])
      expect([found.error, found.ffprobe_error]).toEqual([undefined, undefined])
    }
    const [in_1, in_2, in_3] = [clip, lut.id, sound.id].map((id) => `svc_id://${id}`)
    const record = await ffmpeg(
      "ffmpeg -i {{in_1}} -f s16le -ar 16000 -ac 1 -i {{in_3}} -vf lut3d={{in_2}} -map 0:v -map 1:a {{out_1}}",
      { in_1: in_1 ?? "", in_2: in_2 ?? "", in_3: in_3 ?? "" },
    )
    const { streams } = await download(record)
    expect(streams.map(({ codec_type }) => codec_type)).toEqual(["video", "audio"])
    expect(record["warnings"]).toEqual([])
  })

  it("of broken media fails with the remedy, and a normalization refuses it", async () => {
    const whole = await readFile(join(folder, "clip.mp4"))
    const found = await upload("half.mp4", whole.subarray(0, whole.length / 2))
    expect(found).toMatchObject({
      status: "failed",
      error: "The file is cut off: its index (moov atom) is missing. Upload it again.",
      ffprobe: null,
      ffprobe_error: expect.stringContaining("moov atom not found"),
    })
    expect((await call(found.download_url)).status).toBe(200)
    const refused = await call("/normalize", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ file_url: `svc_id://${found.id}` }),
    })
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({
      details: [
        { field: "file_url", code: "probe_failed", message: expect.stringMatching(/sound/) },
      ],
    })
  })

  it("is read as what its name and its media type say", async () => {
    const page = "<!DOCTYPE html><html><body>Gone.</body></html>"
    expect(await upload("video.mp4", page)).toMatchObject({
      status: "failed",
      error: "The file is a web page (HTML), not media. Upload the media itself.",
    })
    expect(await upload("words", "Plain words.\n")).toMatchObject({ status: "success" })
    expect(await upload("words", "Plain words.\n", "wait=30", "video/mp4")).toMatchObject({
      status: "failed",
    })
  })

  it("leaves nothing behind if its upload is interrupted", async () => {
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
  function two() {
    return { in_2: `svc_id://${clip}` }
  }

  it("scales a clip, and has its output in its record", async () => {
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

  it("warns of an input that it does not name", async () => {
    const record = await ffmpeg("ffmpeg -i {{in_1}} -t 1 {{out_1}}", { ...one(), ...two() })
    expect([record.status, record["warnings"]]).toMatchObject([
      "success",
      [{ code: "unused_input", message: expect.stringContaining("input_files.in_2") }],
    ])
  })

  it("makes several outputs, one by two entries, each a separate File", async () => {
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

  it("needs no input, and waits for an input that is not probed yet", async () => {
    const made = await ffmpeg("ffmpeg -f lavfi -i testsrc=d=0.2 -pix_fmt yuv420p out_1", {})
    expect(made.status).toBe("success")
    const fresh = await upload("clip.mp4", await readFile(join(folder, "clip.mp4")), "")
    expect(fresh.status).toBe("pending")
    const record = await ffmpeg("ffmpeg -i in_1 -c copy out_1", { in_1: `svc_id://${fresh.id}` })
    expect(record.status).toBe("success")
  })

  it.each([
    ["an unknown encoder", "-c:v nonsense", "encoder_not_found"],
    ["an unknown option", "-nonsense 1", "invalid_option"],
    ["an unknown filter", "-vf nonsense", "filter_error"],
    ["a missing stream", "-map 0:7", "stream_not_found"],
  ])("fails with a sentence for %s", async (_, words, code) => {
    const record = await ffmpeg(`ffmpeg -i in_1 ${words} out_1`, one())
    expect([record.status, record.error_code]).toEqual(["failed", code])
    expect(record.processing_errors?.[0]).toBe(record.error)
    expect(record.error).toMatch(/^[A-Z"].*\.$/)
    expect(JSON.stringify(record)).not.toContain(service.stateDir)
    expect(record.output_files).toEqual({ out_1: "out.mp4" })
  })

  it("fails if the input is no media", async () => {
    const text = await upload("text.mp4", "no film")
    const record = await ffmpeg("ffmpeg -i in_1 out_1", { in_1: `svc_id://${text.id}` })
    expect([record.status, record.error_code]).toEqual(["failed", "invalid_input"])
  })
})
