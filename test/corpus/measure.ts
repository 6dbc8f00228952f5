import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"
import { expect } from "vitest"
import { z } from "zod"
import type { Facts } from "./work.ts"

const run = promisify(execFile)

const tags = z.record(z.string(), z.string()).default({})
const stream = z.looseObject({
  codec_name: z.string().default("none"),
  codec_type: z.string().optional(),
  width: z.number().optional(),
  height: z.number().optional(),
  pix_fmt: z.string().optional(),
  avg_frame_rate: z.string().optional(),
  nb_read_frames: z.string().optional(),
  sample_rate: z.string().optional(),
  channels: z.number().optional(),
  tags,
})
const answer = z.object({
  streams: z.array(stream),
  chapters: z.array(z.unknown()),
  format: z.looseObject({ format_name: z.string(), duration: z.string().optional(), tags }),
})

const EXACT = [
  "codecs",
  "size",
  "frames",
  "pixels",
  "rate",
  "sound",
  "tags",
  "languages",
  "chapters",
] as const
const PROBED = [...EXACT, "format", "seconds"] as const

/** Expects of a file what the facts say; answers nothing. */
export async function expectFacts(path: string, facts: Facts): Promise<void> {
  const { bytes, text, luma, decibels } = facts
  const content = await readFile(path)
  if (bytes !== undefined) expect(content.length).toBe(bytes)
  if (text !== undefined) {
    const found = content.toString(typeof text === "string" ? "utf8" : "latin1")
    if (typeof text === "string") expect(found).toContain(text)
    else expect(found).toMatch(text)
  }
  if (luma) expectBetween(await meanLuma(path), luma)
  if (decibels) expectBetween(await meanVolume(path), decibels)
  if (PROBED.some((name) => name in facts)) await expectProbed(path, facts)
}

async function expectProbed(path: string, facts: Facts): Promise<void> {
  const count = facts.frames === undefined ? [] : ["-count_frames"]
  const shown = ["-show_streams", "-show_format", "-show_chapters"]
  const { stdout } = await run("ffprobe", ["-v", "error", "-of", "json", ...count, ...shown, path])
  const { streams, format, chapters } = answer.parse(JSON.parse(stdout))
  const picture = streams.find(({ codec_type: type }) => type === "video")
  const sound = streams.find(({ codec_type: type }) => type === "audio")
  const found = {
    format: format.format_name.split(","),
    codecs: streams.map(({ codec_name: name }) => name).join(" "),
    size: `${picture?.width}x${picture?.height}`,
    seconds: Number(format.duration),
    frames: Number(picture?.nb_read_frames),
    pixels: picture?.pix_fmt,
    rate: picture?.avg_frame_rate,
    sound: `${sound?.sample_rate} ${sound?.channels}`,
    tags: format.tags,
    languages: streams.flatMap((each) => each.tags["language"] ?? []).join(" "),
    chapters: chapters.length,
  }
  const { format: name, seconds } = facts
  const exact = EXACT.filter((each) => each in facts).map((each) => [each, facts[each]])
  expect(found).toMatchObject({
    ...Object.fromEntries(exact),
    ...(name !== undefined && { format: expect.arrayContaining([name]) }),
    ...(seconds !== undefined && { seconds: expect.closeTo(seconds, 0) }),
  })
}

function expectBetween(found: number, [least, most]: [number, number]): void {
  expect(found).toBeGreaterThanOrEqual(least)
  expect(found).toBeLessThanOrEqual(most)
}

/** Mean brightness of the first frame. */
async function meanLuma(path: string): Promise<number> {
  const words = ["-v", "error", "-i", path, "-frames:v", "1", "-vf", "format=gray"]
  const options = { encoding: "buffer" as const }
  const { stdout } = await run("ffmpeg", [...words, "-f", "rawvideo", "-"], options)
  return stdout.reduce((sum, value) => sum + value, 0) / stdout.length
}

async function meanVolume(path: string): Promise<number> {
  const { stderr } = await run("ffmpeg", ["-i", path, "-af", "volumedetect", "-f", "null", "-"])
  return Number(/mean_volume: (-?[\d.]+|-inf) dB/.exec(stderr)?.[1]?.replace("-inf", "-100"))
}
