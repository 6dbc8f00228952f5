import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { afterAll, beforeAll, expect, it } from "vitest"
import { z } from "zod"
import {
  makeMediaFile,
  runUnsandboxed,
  serviceToolPaths,
} from "../../../scripts/cli/client/media.ts"
import { openSoundStage } from "./sound-stage.ts"
import type { SoundStage } from "./sound-stage.ts"

const created = z.looseObject({ id: z.uuid(), status: z.string() })
const job = z.looseObject({
  id: z.uuid(),
  status: z.string(),
  progress: z.number().nullish(),
  outputs: z.array(
    z.looseObject({
      url: z.url(),
      codec: z.string(),
      resolution: z.string(),
      duration_seconds: z.number(),
      size_bytes: z.int(),
      quality: z.strictObject({ metric: z.string(), score: z.number() }).optional(),
    }),
  ),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
})

const FILM =
  "-f lavfi -i testsrc2=s=1280x720:r=5:d=4.2 -f lavfi -i sine=d=4.2 -c:v libx264 -preset ultrafast"
const LONG = "-f lavfi -i testsrc2=s=1280x720:r=25:d=16 -c:v libx264 -preset ultrafast"
const SHORT = "-f lavfi -i testsrc2=s=640x360:r=25:d=1 -c:v libx264 -preset ultrafast"
const TONE = "-f lavfi -i sine=d=1"
/** The ids of the index and of the first media in a WebM. */
const WEBM_ELEMENTS = ["\x1c\x53\xbb\x6b", "\x1f\x43\xb6\x75"] as const
const MOVIE_BOXES = ["moov", "mdat"] as const
const SMALL = { codec: "h264", resolution: "480p" }

let stage: SoundStage

beforeAll(async () => {
  stage = await openSoundStage("transcode")
})

afterAll(() => stage[Symbol.asyncDispose]())

async function transcode(source: string, outputs: object[], more: object = {}) {
  const body = { source: `svc_id://${await stage.upload(source)}`, outputs, ...more }
  const answer = await stage.postJson("/transcode", body)
  expect(answer.status).toBe(202)
  return created.parse(await answer.json())
}

async function ask(program: string, words: string, path: string): Promise<string> {
  return await runUnsandboxed(program, [...words.split(" "), path], stage.folder)
}

/** The job as soon as it is so; each question waits for a moment. */
async function readUntil(id: string, isSo: (shown: z.infer<typeof job>) => boolean) {
  for (let count = 0; count < 120; count += 1) {
    const answer = await stage.call(`/jobs/${id}`, { headers: { prefer: "wait=1" } })
    const shown = job.parse(await answer.json())
    if (isSo(shown)) return shown
  }
  throw new Error(`The job ${id} did not come so far.`)
}

function isOver({ status }: { status: string }): boolean {
  return status === "completed" || status === "failed"
}

it("makes renditions that play in browsers, in the requested order, and sends the Job", async () => {
  const source = await makeMediaFile(stage.folder, "film.mkv", FILM)
  const outputs = [
    SMALL,
    { codec: "h265", resolution: "480p", container: "mov" },
    { codec: "vp9", resolution: "720p", container: "webm" },
  ]
  const webhook_url = `${stage.receiver.origin}/transcoded`
  const { id } = await transcode(source, outputs, { webhook_url })
  const shown = await readUntil(id, isOver)
  expect(shown).toMatchObject({ kind: "transcode", status: "completed" })
  expect(shown.outputs.map(({ codec, resolution }) => [codec, resolution])).toEqual([
    ["h264", "854x480"],
    ["h265", "854x480"],
    ["vp9", "1280x720"],
  ])
  for (const { url, duration_seconds, size_bytes, quality } of shown.outputs) {
    expect(quality).toBeUndefined()
    expect(duration_seconds).toBeCloseTo(4.2, 0)
    const path = await stage.download(url)
    const bytes = await ask(
      serviceToolPaths.ffprobe,
      "-v error -show_entries format=size -of csv=p=0",
      path,
    )
    expect(Number(bytes)).toBe(size_bytes)
    // Every frame can be decoded.
    await runUnsandboxed(
      serviceToolPaths.ffmpeg,
      `-v error -xerror -i ${path} -f null -`.split(" "),
      stage.folder,
    )
    const types = await ask(
      serviceToolPaths.ffprobe,
      "-v error -show_entries stream=codec_type -of csv=p=0",
      path,
    )
    expect(types.trim().split(/\s+/)).toEqual(["video", "audio"])
    expect(await keyTimes(path)).toEqual(["0.0", "2.0", "4.0"])
    expect(await startsWithIndex(path)).toBe(true)
  }
  const [told] = await stage.receiver.untilReceived(1)
  expect(JSON.parse(told?.body ?? "{}")).toMatchObject({
    data: { id, status: "completed", outputs: [{}, {}, {}] },
  })
})

it("makes renditions that would be the same once, and says so", async () => {
  const source = await makeMediaFile(stage.folder, "small film.mp4", SHORT)
  const outputs = ["240p", "360p", "1440p"].map((resolution) => ({ codec: "h264", resolution }))
  const created = await transcode(source, outputs)
  const reserved = z.record(z.string(), z.uuid()).parse(created["file_ids"])
  const shown = await readUntil(created.id, isOver)
  expect(shown.status).toBe("completed")
  const [small, large, same] = shown.outputs
  expect([small?.resolution, large?.resolution]).toEqual(["426x240", "640x360"])
  expect(large).toMatchObject({ id: reserved["out_2"], name: "small film_360p_h264.mp4" })
  expect(same).toEqual(large)
  const bytes = await readFile(await stage.download(large?.url ?? ""))
  expect(large?.["sha256"]).toBe(createHash("sha256").update(bytes).digest("hex"))
  const ids = { out_1: reserved["out_1"], out_2: reserved["out_2"], out_3: reserved["out_2"] }
  expect(shown["file_ids"]).toEqual(ids)
  expect(shown["warnings"]).toEqual([
    {
      code: "same_rendition",
      message: "out_3 is the same as out_2 (h264 in mp4, 640x360), which was encoded once.",
    },
  ])
})

it("scores each rendition against its source if quality_metrics is true", async () => {
  const source = await makeMediaFile(stage.folder, "short.mp4", SHORT)
  const outputs = [SMALL, { ...SMALL, bitrate_kbps: 100 }]
  const { id } = await transcode(source, outputs, { quality_metrics: true })
  const shown = await readUntil(id, isOver)
  expect(shown.status).toBe("completed")
  const [kept, starved] = shown.outputs.map(({ quality }) => quality)
  expect(kept?.metric).toMatch(/^(?:vmaf|ssim)$/)
  expect(starved?.metric).toBe(kept?.metric)
  expect(kept?.score).toBeGreaterThan(starved?.score ?? Infinity)
})

it("is refused with no_video for audio alone", async () => {
  const source = await stage.upload(await makeMediaFile(stage.folder, "tone.mp3", TONE))
  const body = { source: `svc_id://${source}`, outputs: [SMALL] }
  const answer = await stage.postJson("/transcode", body)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ details: [{ field: "source", code: "no_video" }] })
})

it("ends at once when it is canceled", async () => {
  const source = await makeMediaFile(stage.folder, "long.mp4", LONG)
  const { id } = await transcode(source, [{ codec: "h265", resolution: "720p" }])
  await readUntil(id, ({ status, progress }) => status === "processing" && (progress ?? 0) > 0)
  const answer = await stage.call(`/jobs/${id}/cancel`, { method: "POST" })
  expect(answer.status).toBe(200)
  const shown = await readUntil(id, isOver)
  expect(shown).toMatchObject({ status: "failed", outputs: [], error: { code: "canceled" } })
})

async function keyTimes(path: string): Promise<string[]> {
  const words = "-v error -select_streams v:0 -show_entries packet=pts_time,flags -of csv=p=0"
  const lines = (await ask(serviceToolPaths.ffprobe, words, path)).trim().split("\n")
  return lines
    .filter((line) => line.includes(",K"))
    .map((line) => Number(line.split(",")[0]).toFixed(1))
}

/** Whether a player finds the index of a file before its media. */
async function startsWithIndex(path: string): Promise<boolean> {
  const bytes = await readFile(path)
  const [index, media] = path.endsWith(".webm") ? WEBM_ELEMENTS : MOVIE_BOXES
  // The first element of a WebM only points to its index.
  const indexAt = bytes.lastIndexOf(index, undefined, "latin1")
  return indexAt > 0 && indexAt < bytes.indexOf(media, 0, "latin1")
}
