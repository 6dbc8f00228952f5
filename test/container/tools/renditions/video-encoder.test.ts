import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { RENDITION_CODECS } from "../../../../src/contract/tasks/render.ts"
import type { VideoTarget } from "../../../../container/tools/renditions/video-encoder.ts"
import { passesOf, videoArguments } from "../../../../container/tools/renditions/video-encoder.ts"

const run = promisify(execFile)

const TARGET: VideoTarget = {
  codec: "h264",
  container: "mp4",
  width: 96,
  height: 64,
  frameRate: { frames: 25, seconds: 1 },
  bitrateKbps: null,
}
const shownFacts = z.object({
  packets: z.array(z.object({ flags: z.string() })),
  streams: z.array(z.object({ codec_tag_string: z.string(), pix_fmt: z.string() })),
})
const TAGS = { h264: "avc1", h265: "hvc1", vp9: "vp09", av1: "av01" }

test("a stream without a rate is made in one pass", () => {
  expect(passesOf(TARGET)).toBe(1)
  expect(videoArguments(TARGET, { number: 1, log: "passes" }).join(" ")).not.toContain("pass")
})

test("AV1 is asked for a rate without a peak, which its encoder refuses beside a rate", () => {
  const words = videoArguments(
    { ...TARGET, codec: "av1", bitrateKbps: 500 },
    { number: 1, log: "passes" },
  )
  expect(words).toContain("-b:v")
  expect(words).not.toContain("-maxrate")
})

test.each([
  { frames: 30_000, seconds: 1001, bitrateKbps: null },
  { frames: 25, seconds: 2, bitrateKbps: 100 },
  { frames: 1, seconds: 1, bitrateKbps: null },
])(
  "streams of all codecs at $frames/$seconds have their keyframes at the same places",
  async ({ bitrateKbps, ...frameRate }) => {
    const made = RENDITION_CODECS.map((codec) =>
      encode({ ...TARGET, codec, frameRate, bitrateKbps }, 4.5),
    )
    const streams = await Promise.all(made)
    const gop = Math.round((2 * frameRate.frames) / frameRate.seconds)
    for (const [order, { tag, format, keyframes }] of streams.entries()) {
      expect(tag).toBe(TAGS[RENDITION_CODECS[order] ?? "h264"])
      expect(format).toBe("yuv420p")
      expect(keyframes).toEqual([0, gop, 2 * gop])
    }
  },
)

test.each([
  { codec: "h264", width: 2, height: 2 },
  { codec: "h265", width: 16, height: 16 },
  { codec: "vp9", width: 2, height: 2 },
  { codec: "av1", width: 2, height: 2 },
  { codec: "av1", width: 64, height: 62 },
] as const)("$codec makes a picture of $width x $height", async ({ codec, width, height }) => {
  const { keyframes } = await encode({ ...TARGET, codec, width, height }, 0.4)
  expect(keyframes).toEqual([0])
})

/** Encodes moving bars with cuts, and tells the stream's facts and the numbers of its keyframes. */
async function encode(target: VideoTarget, seconds: number) {
  const folder = await mkdtemp(join(tmpdir(), "video-encoder-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { width, height, frameRate } = target
  const frames = Math.max(5, Math.round((seconds * frameRate.frames) / frameRate.seconds))
  const rate = `${frameRate.frames}/${frameRate.seconds}`
  const source = `testsrc2=size=${width}x${height}:rate=${rate},negate=enable='between(mod(n,17),9,17)'`
  for (const number of passesOf(target) === 2 ? ([1, 2] as const) : ([1] as const)) {
    const words = videoArguments(target, { number, log: "passes" })
    const output = number === passesOf(target) ? ["made.mp4"] : ["-f", "null", "-"]
    const input = ["-v", "error", "-f", "lavfi", "-i", source, "-frames:v", String(frames)]
    // Each pass reads the log of the one before.
    await run("ffmpeg", [...input, ...words, ...output], { cwd: folder })
  }
  const shown = "packet=flags:stream=codec_tag_string,pix_fmt"
  const report = await run(
    "ffprobe",
    ["-v", "error", "-show_entries", shown, "-of", "json", "made.mp4"],
    { cwd: folder },
  )
  const { packets, streams } = shownFacts.parse(JSON.parse(report.stdout))
  return {
    tag: streams[0]?.codec_tag_string,
    format: streams[0]?.pix_fmt,
    keyframes: packets.flatMap(({ flags }, order) => (flags.startsWith("K") ? [order] : [])),
  }
}
