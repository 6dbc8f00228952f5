import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { runUnsandboxed, serviceToolPaths } from "../../../scripts/cli/client/media.ts"
import { findMediaTools } from "../../../scripts/cli/media-tools.ts"
import { detectFfmpegBuild, makeRotationArguments } from "../../support/media/ffmpeg-builds.ts"
import { openKeyedCall } from "../operate/keyed-call.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const build = detectFfmpegBuild(findMediaTools().ffmpeg)
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
const file = output.extend({ ffprobe: z.looseObject({}).nullable() })

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
  it("has the name of a series' archive, in every record", async () => {
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

  it("has the name of a package's playlist", async () => {
    const { made, file } = await make("film.m3u8", `${PICTURE} ${CODING} -f hls {{out_1}}`)
    expect([made.name, made.playlist, entriesOf(made)]).toEqual([
      "film.m3u8",
      "film.m3u8",
      ["film.m3u8"],
    ])
    expect([file.playlist, file.files]).toEqual([made.playlist, made.files])
  })

  it("has the master playlist of a series", async () => {
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

  it("has no playlist if a series has several master playlists", async () => {
    const line = `${PICTURE} ${CODING} -map 0 -map 0 -var_stream_map 'v:0 v:1' -f hls {{out_1}}`
    const { made } = await make("stream_%v.m3u8", line)
    expect(made.files.filter(({ name }) => name.endsWith(".m3u8"))).toHaveLength(2)
    expect([made.playlist, entriesOf(made)]).toEqual([undefined, []])
  })
})

describe("the picture of an output", () => {
  it("is not the cover of an audio file", async () => {
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
  ])("has the displayed size if it is rotated by %d", async (rotation, [width, height]) => {
    const { made, ofJob, file } = await make(
      "turned.mp4",
      `${PICTURE} ${CODING} upright.mp4`,
      `${makeRotationArguments(build, "upright.mp4", rotation)} {{out_1}}`,
    )
    expect(made).toMatchObject({ width, height, rotation })
    expect(ofJob).toMatchObject({ resolution: `${width}x${height}` })
    expect(file.ffprobe).toMatchObject({ width: 64, height: 36 })
  })

  it("has no rotation if there is none", async () => {
    const { made } = await make("plain.mp4", `${PICTURE} ${CODING} {{out_1}}`)
    expect(made).toMatchObject({ width: 64, height: 36 })
    expect(made).not.toHaveProperty("rotation")
  })
})

it("has the checksum of the output's bytes", async () => {
  const { made, file } = await make("bars.mp4", `${PICTURE} ${CODING} {{out_1}}`)
  const bytes = await (await call(new URL(made.download_url).pathname.slice("/v1".length))).bytes()
  const digest = createHash("sha256").update(bytes).digest("hex")
  expect([made["sha256"], file["sha256"]]).toEqual([digest, digest])
})

const accepted = z.object({ command_id: z.uuid(), file_ids: z.record(z.string(), z.uuid()) })
const publicBundle = z.looseObject({
  id: z.uuid(),
  public_url: z.url(),
  archive_url: z.url(),
  files: z.array(z.looseObject({ name: z.string(), public_url: z.url() })),
})
const namedJob = z.looseObject({
  status: z.string(),
  file_ids: z.record(z.string(), z.uuid()),
  outputs: z.array(z.looseObject({ id: z.uuid(), name: z.string(), content_type: z.string() })),
})

async function postJson(path: string, body: object, prefer = "wait=0"): Promise<unknown> {
  const headers = { "content-type": "application/json", prefer }
  return await (await call(path, { method: "POST", headers, body: JSON.stringify(body) })).json()
}

it("plays a published package from its public URL, and takes outputs by reserved ids", async () => {
  const answer = await postJson("/commands", {
    ffmpeg_command: `ffmpeg ${PICTURE} ${CODING} -hls_time 1 {{out_1}} -frames:v 1 {{out_2}}`,
    output_files: { out_1: "film.m3u8", out_2: "still.png" },
    publish: true,
  })
  const { command_id, file_ids } = accepted.parse(answer)
  const wait = { headers: { prefer: "wait=60" } }
  const made = command.parse(await (await call(`/commands/${command_id}`, wait)).json())
  expect([made.status, made.error]).toEqual(["success", undefined])
  const film = publicBundle.parse(made.output_files["out_1"])
  expect([film.id, made.output_files["out_2"]?.id]).toEqual([file_ids["out_1"], file_ids["out_2"]])

  expect(film.public_url).toMatch(/\/public\/1\/[\da-f-]{36}\/film\.m3u8$/)
  const words = "-v error -select_streams v -show_entries packet=pts_time -of csv=p=0"
  const packets = await runUnsandboxed(
    serviceToolPaths.ffprobe,
    [...words.split(" "), film.public_url],
    ".",
  )
  expect(packets.match(/\d+\.\d+/g)).toHaveLength(10)
  for (const { name, public_url } of film.files) {
    expect([name, (await fetch(public_url)).status]).toEqual([name, 200])
  }
  const archive = await fetch(film.archive_url)
  expect(archive.headers.get("content-type")).toBe("application/zip")
  expect(await archive.text()).toMatch(/^PK[^]*film\.m3u8/)

  const inputs = [`svc_id://${file_ids["out_2"]}`]
  const second = await postJson("/ffmpeg", { inputs, command: "-i in_1 small.png" }, "wait=60")
  const { status, outputs, file_ids: ids } = namedJob.parse(second)
  expect(status).toBe("completed")
  const named = { id: ids["out_1"], name: "small.png", content_type: "image/png" }
  expect(outputs).toMatchObject([named])
})
