import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { mediaTools } from "../../scripts/local/media-tools.ts"
import { ffmpegBuildOf, turning } from "../support/ffmpeg-builds.ts"
import { openKeyedCall } from "./keyed-call.ts"
import { startService } from "./service.ts"
import type { TestService } from "./service.ts"

const build = ffmpegBuildOf(mediaTools().ffmpeg)
const PICTURE = "-f lavfi -i testsrc2=size=64x36:rate=10:d=1"
const CODING = "-c:v libx264 -preset ultrafast -g 10"

const output = z.looseObject({
  id: z.string(),
  name: z.string(),
  download_url: z.url(),
  playlist: z.string().optional(),
  files: z
    .array(z.looseObject({ name: z.string(), entry: z.literal(true).optional() }))
    .default([]),
})
const command = z.looseObject({
  id: z.string(),
  status: z.string(),
  error: z.string().optional(),
  output_files: z.record(z.string(), output),
})
const job = z.looseObject({ outputs: z.array(z.looseObject({ url: z.url() })) })
const file = output.extend({ ffprobe: z.looseObject({}).optional() })

let service: TestService
let call: ReturnType<typeof openKeyedCall>

beforeAll(async () => {
  service = await startService()
  call = openKeyedCall(service, await service.makeKey("output-records"))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

/** Runs commands without inputs, and answers the output, its File, and what the Job says of it. */
async function make(name: string, ...lines: string[]) {
  const body = JSON.stringify({
    ffmpeg_commands: lines.map((line) => `ffmpeg ${line}`),
    output_files: { out_1: name },
  })
  const headers = { "content-type": "application/json", prefer: "wait=60" }
  const answer = await call("/commands", { method: "POST", headers, body })
  const { id, status, error, output_files } = command.parse(await answer.json())
  expect([status, error]).toEqual(["success", undefined])
  const made = output.parse(output_files["out_1"])
  const [ofJob] = job.parse(await (await call(`/jobs/${id}`)).json()).outputs
  return { made, ofJob, file: file.parse(await (await call(`/files/${made.id}`)).json()) }
}

function entriesOf({ files }: z.infer<typeof output>): string[] {
  return files.filter(({ entry }) => entry).map(({ name }) => name)
}

describe("the record of an output of several files", () => {
  it("calls a series what its archive is called, wherever it stands", async () => {
    const { made, ofJob, file } = await make("frame_%03d.png", `${PICTURE} -frames:v 2 {{out_1}}`)
    expect([made.name, file.name]).toEqual(["frame.zip", "frame.zip"])
    expect(made.download_url).toMatch(/\/frame\.zip$/)
    expect([file.download_url, ofJob?.url]).toEqual([made.download_url, made.download_url])
    expect(made.files.map(({ name }) => name)).toEqual(["frame_001.png", "frame_002.png"])
    expect([made.playlist, entriesOf(made)]).toEqual([undefined, []])
    const archive = await call(made.download_url)
    expect(archive.headers.get("content-disposition")).toContain("filename=frame.zip")
    expect(await archive.text()).toMatch(/^PK[^]*frame_002\.png/)
  })

  it("names the playlist of a package, which is its name too", async () => {
    const { made, file } = await make("film.m3u8", `${PICTURE} ${CODING} -f hls {{out_1}}`)
    expect([made.name, made.playlist, entriesOf(made)]).toEqual([
      "film.m3u8",
      "film.m3u8",
      ["film.m3u8"],
    ])
    expect([file.playlist, file.files]).toEqual([made.playlist, made.files])
  })

  it("names the master among the playlists of a series", async () => {
    const streams = "-map 0 -map 0 -var_stream_map 'v:0 v:1' -master_pl_name all.m3u8"
    // ffmpeg 5 leaves streams of an unknown bit rate out of a master.
    const line = `${PICTURE} ${CODING} -b:v 100k ${streams} -f hls {{out_1}}`
    const { made, file } = await make("stream_%v.m3u8", line)
    expect([made.name, made.playlist, entriesOf(made)]).toEqual([
      "stream.zip",
      "all.m3u8",
      ["all.m3u8"],
    ])
    expect([file.name, file.playlist]).toEqual(["stream.zip", "all.m3u8"])
  })

  it("names none where a series has several to begin with", async () => {
    const line = `${PICTURE} ${CODING} -map 0 -map 0 -var_stream_map 'v:0 v:1' -f hls {{out_1}}`
    const { made } = await make("stream_%v.m3u8", line)
    expect(made.files.filter(({ name }) => name.endsWith(".m3u8"))).toHaveLength(2)
    expect([made.playlist, entriesOf(made)]).toEqual([undefined, []])
  })
})

describe("the picture of an output", () => {
  it("is no cover of sound", async () => {
    const { made, ofJob, file } = await make(
      "song.mp3",
      `${PICTURE} -frames:v 1 cover.png`,
      "-f lavfi -i sine=d=1 -i cover.png -map 0 -map 1 -c:a libmp3lame -c:v copy {{out_1}}",
    )
    for (const name of ["width", "height", "rotation"]) expect(made).not.toHaveProperty(name)
    expect(ofJob).toMatchObject({ codec: "mp3" })
    expect(ofJob).not.toHaveProperty("resolution")
    expect(file.ffprobe).toMatchObject({ width: 64, height: 36 })
  })

  it.each([
    [90, [36, 64]],
    [270, [36, 64]],
    [180, [64, 36]],
  ])("is as it is shown where it is turned by %d", async (rotation, [width, height]) => {
    const { made, ofJob, file } = await make(
      "turned.mp4",
      `${PICTURE} ${CODING} upright.mp4`,
      `${turning(build, "upright.mp4", rotation)} {{out_1}}`,
    )
    expect(made).toMatchObject({ width, height, rotation })
    expect(ofJob).toMatchObject({ resolution: `${width}x${height}` })
    expect(file.ffprobe).toMatchObject({ width: 64, height: 36 })
  })

  it("says nothing of a turn where there is none", async () => {
    const { made } = await make("plain.mp4", `${PICTURE} ${CODING} {{out_1}}`)
    expect(made).toMatchObject({ width: 64, height: 36 })
    expect(made).not.toHaveProperty("rotation")
  })
})

it("says the checksum of an output, which is that of its bytes", async () => {
  const { made, file } = await make("bars.mp4", `${PICTURE} ${CODING} {{out_1}}`)
  const bytes = await (await call(new URL(made.download_url).pathname.slice("/v1".length))).bytes()
  const digest = createHash("sha256").update(bytes).digest("hex")
  expect([made["sha256"], file["sha256"]]).toEqual([digest, digest])
})
