import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { openAccount } from "../../corpus/account.ts"
import type { Account } from "../../corpus/account.ts"
import { makeMedia } from "../../corpus/fixtures.ts"
import { makeOddMedia } from "./odd-media.ts"
import { startReceiver } from "../receiver.ts"
import type { Receiver } from "../receiver.ts"
import { startService } from "../service.ts"

const PICTURE = "-f lavfi -i testsrc2=s=160x120:r=25:d=8"
const TONE = "-f lavfi -i sine=f=440:r=44100:d=8"
const QUICK = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac"

const MEDIA: [name: string, words: string][] = [
  ["clip.mp4", `${PICTURE} ${TONE} ${QUICK} -movflags +faststart`],
  ["clip.mkv", "-i clip.mp4 -c copy"],
  ["clip.ts", "-i clip.mp4 -c copy"],
  ["clip.flv", "-i clip.mp4 -c copy"],
  ["clip.webm", "-i clip.mp4 -c:v libvpx -deadline realtime -cpu-used 8 -c:a libopus"],
  ["song.mp3", "-i clip.mp4 -vn"],
  ["song.flac", "-i clip.mp4 -vn"],
]

const opened = new AsyncDisposableStack()
let account: Account
let receiver: Receiver
let folder: string
const halves = new Map<string, Promise<string>>()
const wholes = new Map<string, Promise<string>>()
let whole: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-warnings-"))
  await makeMedia(folder, {}, MEDIA)
  await makeOddMedia(folder)
  const service = opened.use(await startService({ ALLOWED_PRIVATE_HOSTS: "127.0.0.1" }))
  receiver = opened.use(await startReceiver())
  account = openAccount(service.origin, await service.makeKey("warnings"))
  const clip = await account.upload("clip.mp4", await readMedia("clip.mp4"))
  whole = `svc_id://${clip.id}`
})

afterAll(async () => {
  await opened.disposeAsync()
  await rm(folder, { recursive: true, force: true })
})

async function readMedia(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(join(folder, name)))
}

/** Uploads the first half of a file, once; answers a reference to it. */
async function halfOf(name: string): Promise<string> {
  return await uploadOnce(name, halves, (bytes) => bytes.slice(0, bytes.length >> 1))
}

/** Uploads a file, once; answers a reference to it. */
async function wholeOf(name: string): Promise<string> {
  return await uploadOnce(name, wholes, (bytes) => bytes)
}

async function uploadOnce(
  name: string,
  uploads: Map<string, Promise<string>>,
  cut: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>,
): Promise<string> {
  const known = uploads.get(name)
  if (known) return await known
  const uploading = (async () => {
    const { id, status } = await account.upload(name, cut(await readMedia(name)))
    expect(status).toBe("success")
    return `svc_id://${id}`
  })()
  uploads.set(name, uploading)
  return await uploading
}

async function run(line: string, input: string, name: string) {
  const { record } = await account.run({
    ffmpeg_command: line,
    input_files: { in_1: input },
    output_files: { out_1: name },
  })
  if (!record) throw new Error("it was refused")
  return record
}

describe.concurrent("half of a file", () => {
  test.for<[half: string, line: string, made: string]>([
    ["clip.mp4", "ffmpeg -i in_1 -preset ultrafast out_1", "o.mp4"],
    ["clip.mp4", "ffmpeg -i in_1 -c copy out_1", "o.mkv"],
    ["clip.mp4", "ffmpeg -i in_1 -vf fps=5,setpts=2*PTS -an -preset ultrafast out_1", "o.mp4"],
    ["clip.mp4", "ffmpeg -v error -i in_1 -preset ultrafast out_1", "o.mp4"],
    ["clip.mp4", "ffmpeg -i in_1 -preset ultrafast -hls_time 1 out_1", "o.m3u8"],
    ["clip.mkv", "ffmpeg -i in_1 -vf scale=80:60 -preset ultrafast out_1", "o.mp4"],
    ["clip.mkv", "ffmpeg -i in_1 -c copy out_1", "o.mp4"],
    ["clip.mkv", "ffmpeg -i in_1 -vn -c:a libmp3lame out_1", "o.mp3"],
    ["clip.ts", "ffmpeg -i in_1 -preset ultrafast out_1", "o.mp4"],
    ["clip.ts", "ffmpeg -i in_1 -c copy out_1", "o.mkv"],
    ["clip.flv", "ffmpeg -i in_1 -c copy out_1", "o.mp4"],
    ["clip.webm", "ffmpeg -i in_1 -preset ultrafast out_1", "o.mp4"],
    ["song.mp3", "ffmpeg -i in_1 out_1", "o.wav"],
    ["song.mp3", "ffmpeg -i in_1 -c copy out_1", "o.mp3"],
    ["song.flac", "ffmpeg -i in_1 -c:a aac out_1", "o.m4a"],
  ])("of %s causes a success with a warning: %s (%s)", async ([half, line, made]) => {
    const { status, error, warnings } = await run(line, await halfOf(half), made)
    expect([status, error]).toEqual(["success", undefined])
    const codes = new Set(warnings.map(({ code }) => code))
    expect([...codes].filter((code) => code !== "input_damaged")).toEqual(
      codes.has("shorter_than_expected") ? ["shorter_than_expected"] : [],
    )
    expect(codes.size).toBeGreaterThan(0)
    for (const { message } of warnings) expect(message).toMatch(/in_1\.\w+.*\.$/)
  })

  test("a video within its half is as long as expected", async () => {
    const { warnings } = await run(
      "ffmpeg -i in_1 -t 2 -c copy out_1",
      await halfOf("clip.mkv"),
      "o.mkv",
    )
    expect(warnings).toEqual([])
  })
})

describe.concurrent("an intact but odd input", () => {
  test.for<[name: string, line: string, made: string]>([
    ["piped.wav", "ffmpeg -i in_1 out_1", "o.flac"],
    ["piped64.wav", "ffmpeg -i in_1 -c copy out_1", "o.mkv"],
    ["piped.caf", "ffmpeg -i in_1 out_1", "o.mp3"],
    ["quiet.aac", "ffmpeg -i in_1 out_1", "o.wav"],
    ["quiet.mp3", "ffmpeg -i in_1 out_1", "o.wav"],
    ["piped.avi", "ffmpeg -i in_1 -an -preset ultrafast out_1", "o.mp4"],
    ["short.wmv", "ffmpeg -i in_1 -an -preset ultrafast out_1", "o.mp4"],
    ["piece2.mkv", "ffmpeg -i in_1 -preset ultrafast out_1", "o.mp4"],
    ["late.opus", "ffmpeg -i in_1 out_1", "o.wav"],
    ["late.mkv", "ffmpeg -i in_1 -an -preset ultrafast out_1", "o.ts"],
    ["slow.mp4", "ffmpeg -i in_1 -preset ultrafast out_1", "o.ts"],
    ["program.mpg", "ffmpeg -ss 1.3 -i in_1 -preset ultrafast out_1", "o.mp4"],
    ["lyrics.mp3", "ffmpeg -i in_1 out_1", "o.wav"],
    ["lyrics.mp3", "ffmpeg -v error -i in_1 out_1", "o.wav"],
    ["padded.mp3", "ffmpeg -i in_1 out_1", "o.wav"],
    ["joined.mp3", "ffmpeg -i in_1 out_1", "o.wav"],
    ["joined.ogg", "ffmpeg -i in_1 -ss 4 out_1", "o.wav"],
    ["joined.ts", "ffmpeg -i in_1 -ss 4 -preset ultrafast out_1", "o.mp4"],
    ["header.wav", "ffmpeg -ignore_length 1 -ss 1.5 -i in_1 out_1", "o.mp3"],
    ["edited.mp4", "ffmpeg -ignore_editlist 1 -i in_1 -ss 1.7 -preset ultrafast out_1", "o.mp4"],
  ])("%s causes no warning and no refusal: %s (%s)", async ([name, line, made]) => {
    const { status, error, warnings } = await run(line, await wholeOf(name), made)
    expect([status, error, warnings]).toEqual(["success", undefined, []])
  })

  test("warns of damage in a cut photo", async () => {
    const cut = await run("ffmpeg -i in_1 out_1", await wholeOf("cut.jpg"), "o.png")
    expect(cut.warnings.map(({ code }) => code)).toEqual(["input_damaged"])
    const photo = await run("ffmpeg -i in_1 out_1", await wholeOf("photo.jpg"), "o.png")
    expect(photo.warnings).toEqual([])
  })
})

describe.concurrent("a stream without a packet", () => {
  test.for<[line: string, name: string, what: string]>([
    ["ffmpeg -i in_1 -vf select=0 out_1", "o.mp4", "picture"],
    ["ffmpeg -i in_1 -vf select=0 out_1", "o.mkv", "picture"],
    ["ffmpeg -i in_1 -vf select=0 -c:v libx264 out_1", "o.ts", "picture"],
    ["ffmpeg -i in_1 -vf select=0 out_1", "o.flv", "picture"],
    ["ffmpeg -i in_1 -vf select=0 out_1", "o.wmv", "picture"],
    ["ffmpeg -i in_1 -af aselect=0 -preset ultrafast out_1", "o.mp4", "sound"],
    ["ffmpeg -i in_1 -af aselect=0 -preset ultrafast out_1", "o.ts", "sound"],
    ["ffmpeg -i in_1 -af aselect=0 -preset ultrafast out_1", "o.mkv", "sound"],
    ["ffmpeg -i in_1 -af aselect=0 -preset ultrafast out_1", "o.avi", "sound"],
  ])("beside a stream with packets causes a warning: %s (%s)", async ([line, name, what]) => {
    const { status, warnings } = await run(line, whole, name)
    expect(status).toBe("success")
    const message = `The output out_1 ("${name}") should have a ${what} stream, and it has none with content: check the maps and filters of the command.`
    expect(warnings).toEqual([{ code: "empty_stream", message }])
  })
})

describe("warnings", () => {
  const warned = z.looseObject({
    warnings: z.array(z.object({ code: z.string(), message: z.string() })),
  })

  test("are on the Command, in its list, on the Job and in the webhook, and empty if there are none", async () => {
    const body = {
      ffmpeg_command: "ffmpeg -i in_1 -c copy out_1",
      input_files: { in_1: await halfOf("clip.mp4") },
      output_files: { out_1: "o.mkv" },
      webhook: `${receiver.origin}/hook`,
    }
    const { record } = await account.run(body)
    expect(record?.warnings.map(({ code }) => code)).toContain("input_damaged")
    const [delivery] = await receiver.untilReceived(1)
    const sent = z.object({ data: warned }).parse(JSON.parse(delivery?.body ?? ""))
    expect(sent.data.warnings).toEqual(record?.warnings)
    const job = warned.parse(await (await account.call(`/jobs/${record?.id}`)).json())
    expect(job.warnings).toEqual(record?.warnings)
    const list = await (await account.call("/commands?limit=1")).json()
    expect(list).toMatchObject([{ id: record?.id, warnings: record?.warnings }])
    const created = await account.call("/commands", {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "wait=0" },
      body: JSON.stringify({ ...body, webhook: null }),
    })
    const { command_id: id } = z.object({ command_id: z.string() }).parse(await created.json())
    expect(
      warned.parse(await (await account.call(`/commands/${id}`)).json()).warnings,
    ).toBeInstanceOf(Array)
    const failed = await run("ffmpeg -i in_1 -vf nosuch out_1", whole, "o.mp4")
    expect([failed.status, failed.warnings]).toEqual(["failed", []])
    const clip = warned.parse(await (await account.call(`/files/${whole.slice(9)}`)).json())
    expect(clip.warnings).toEqual([])
  })
})
