import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { toSubtitleCues } from "../../../container/captions/shape-cues.ts"
import type { SubtitleCue } from "../../../container/captions/shape-cues.ts"
import { formatSrt, formatVtt } from "../../../container/captions/format-subtitles.ts"
import { spoken } from "./spoken.ts"

const run = promisify(execFile)

/** Cues with text that looks like syntax of the formats. */
const HOSTILE: SubtitleCue[] = [
  { startMs: 0, endMs: 1500, lines: ["1999", "00:00:05,000 --> 00:00:06,000"] },
  { startMs: 1500, endMs: 2000, lines: ["2"] },
  { startMs: 2001, endMs: 3000, lines: ["NOTE <b>bold</b> & {\\an8}top", "WEBVTT ---> x"] },
  { startMs: 1_800_000, endMs: 1_800_999, lines: ["3 < 4 > 2 &amp; مرحبا 今天"] },
]
const SPOKEN = toSubtitleCues([
  spoken(
    "When the rain had finally stopped, we walked along the river for an hour. (1) It was late.",
  ),
  spoken("Nobody was in the street, and all the windows were dark.", 1800.1234),
])

/** The package's own types need those of browsers. */
const parser = z.object({
  parseText: z.custom<(text: string, options: object) => Promise<unknown>>(
    (value) => typeof value === "function",
  ),
})
const parsedText = z.object({
  cues: z.array(z.object({ startTime: z.number(), endTime: z.number(), text: z.string() })),
  errors: z.array(z.unknown()),
})

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-captions-"))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test("SRT counts from 1, writes times with commas, and separates cues by a blank line", () => {
  const cues = [
    { startMs: 0, endMs: 1002, lines: ["One", "two."] },
    { startMs: 363_723_045, endMs: 363_723_999, lines: ["Three."] },
  ]
  expect(formatSrt(cues)).toBe(
    "1\n00:00:00,000 --> 00:00:01,002\nOne\ntwo.\n\n" +
      "2\n101:02:03,045 --> 101:02:03,999\nThree.\n",
  )
})

test("WebVTT has a header, times with points, and escapes", () => {
  const cues = [{ startMs: 0, endMs: 1002, lines: ["<One>", "& two -->"] }]
  expect(formatVtt(cues)).toBe(
    "WEBVTT\n\n1\n00:00:00.000 --> 00:00:01.002\n&lt;One&gt;\n&amp; two --&gt;\n",
  )
})

test("without cues, SRT is empty and WebVTT has only its header", () => {
  expect(formatSrt([])).toBe("")
  expect(formatVtt([])).toBe("WEBVTT\n")
})

describe.for([
  { format: "srt", write: formatSrt },
  { format: "vtt", write: formatVtt },
] as const)("$format", ({ format, write }) => {
  test.for([
    { name: "speech", cues: SPOKEN },
    { name: "text that looks like syntax", cues: HOSTILE },
  ])("a parser reads back $name", async ({ cues }) => {
    const { parseText } = parser.parse(await import("media-captions"))
    const options = { type: format, strict: true, errors: true }
    const parsed = parsedText.parse(await parseText(write(cues), options))
    expect(parsed.errors).toEqual([])
    expect(
      parsed.cues.map(({ startTime, endTime, text }) => ({
        startMs: Math.round(startTime * 1000),
        endMs: Math.round(endTime * 1000),
        lines: text.split("\n").map(readAs(format)),
      })),
    ).toEqual(cues.map((cue) => ({ ...cue, lines: cue.lines.map(shownAs(format)) })))
  })

  test.for([
    { name: "speech", cues: SPOKEN },
    { name: "text that looks like syntax", cues: HOSTILE },
  ])(
    "ffmpeg keeps the times of $name as a subtitle track of Matroska and MP4",
    async ({ cues }) => {
      await writeFile(join(folder, `in.${format}`), write(cues))
      const expected = cues.map(({ startMs, endMs }) => ({ startMs, endMs }))
      for (const [name, codec] of [
        ["out.mkv", "srt"],
        ["out.mp4", "mov_text"],
      ] as const) {
        await ffmpeg("-i", `in.${format}`, "-c:s", codec, name)
        expect(await packetTimes(name), `${format} in ${name}`).toEqual(expected)
      }
    },
  )

  test("ffmpeg shows text that looks like syntax of the format", async () => {
    await writeFile(join(folder, `in.${format}`), write(HOSTILE))
    await ffmpeg("-i", `in.${format}`, "-c:s", "text", "-f", "data", "out.txt")
    const { stdout } = await run("cat", ["out.txt"], { cwd: folder })
    for (const line of HOSTILE.flatMap(({ lines }) => lines.map(shownAs(format)))) {
      expect(withoutStyles(stdout)).toContain(withoutStyles(line))
    }
  })
})

/** Returns a line as players show it. SRT cannot show arrows. */
function shownAs(format: "srt" | "vtt") {
  return (line: string) => (format === "srt" ? line.replace(/-{2,}>/g, "->") : line)
}

/** Removes the characters that start styles in ffmpeg, and the word joiners against them. */
function withoutStyles(text: string): string {
  return text.replace(/[\u2060\\{}]/g, "")
}

/** Returns a line as a parser reads it. */
function readAs(format: "srt" | "vtt") {
  return (line: string) => {
    const shown = line.replaceAll("\u2060", "")
    if (format === "srt") return shown
    return shown.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")
  }
}

async function ffmpeg(...words: string[]): Promise<void> {
  await run("ffmpeg", ["-v", "error", "-y", ...words], { cwd: folder })
}

const packets = z.object({
  packets: z.array(
    z.object({
      pts_time: z.string(),
      duration_time: z.string().default("0"),
      size: z.coerce.number(),
    }),
  ),
})

const EMPTY_MP4_PACKET_BYTES = 2

/** Returns the times of a track's packets. MP4 fills gaps with empty packets, which are skipped. */
async function packetTimes(name: string) {
  const options = "-v error -select_streams s -show_packets -of json".split(" ")
  const { stdout } = await run("ffprobe", [...options, name], { cwd: folder })
  return packets
    .parse(JSON.parse(stdout))
    .packets.filter(({ size }) => !name.endsWith(".mp4") || size > EMPTY_MP4_PACKET_BYTES)
    .map(({ pts_time: from, duration_time: seconds }) => ({
      startMs: Math.round(Number(from) * 1000),
      endMs: Math.round((Number(from) + Number(seconds)) * 1000),
    }))
}
