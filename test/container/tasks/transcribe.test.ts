import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { z } from "zod"
import { SPEECH_MODELS_PATH, SPEECH_PYTHON_PATH } from "../../../scripts/setup/speech.ts"
import type { Report } from "../../../src/contract/report.ts"
import { transcribeTaskDefinition } from "../../../src/contract/tasks/transcribe.ts"
import {
  makeSkipSuffix,
  generateSpeech,
  explainMissingSpeechTools,
} from "../../support/media/speech.ts"
import { startHarness } from "../harness.ts"
import type { Harness } from "../harness.ts"
import { waveHeader } from "../wave.ts"
import { makeTestRunnerSettings } from "../../support/runner/runner-settings.ts"

const run = promisify(execFile)

const SPOKEN = "The old man walked along the river. It was a cold morning in November."
/** Text without its first words, which whisper may mishear at the start of a recording. */
const WORDS = /man walked along the river\W+it was a cold morning in november/i
/** Three and a half hours, which ffmpeg decodes in more than a second. */
const HOURS_BYTES = 100_000_000
const FORMATS = ["srt", "json", "vtt", "txt"]

const LACK = await explainMissingSpeechTools()

let folder: string
let harness: Harness

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-speech-"))
  const { toolPaths, speech } = makeTestRunnerSettings({ SPEECH_PYTHON_PATH, SPEECH_MODELS_PATH })
  harness = await startHarness({ toolPaths, speech })
  if (LACK === null) await generateSpeech(folder, { name: "spoken.wav", text: SPOKEN })
})

beforeEach(() => {
  harness.io.reports.length = 0
  harness.io.outputs.clear()
})

afterEach(async () => {
  expect(await harness.workspaces()).toEqual([])
})

afterAll(async () => {
  await harness.close()
  await rm(folder, { recursive: true, force: true })
})

describe("a transcription fails for an input", () => {
  test.for([
    ["no audio", "no_audio", "-f lavfi -i testsrc2=d=1:s=64x36 in.mp4", "in.mp4"],
    [
      "encrypted audio",
      "drm_protected",
      `-f lavfi -i sine=d=5 -c:a aac -encryption_scheme cenc-aes-ctr -encryption_key ${"7".repeat(32)} -encryption_kid ${"a".repeat(32)} in.mp4`,
      "in.mp4",
    ],
  ] as const)("with %s", async ([, code, words, name]) => {
    const report = await transcribe(await media(words, name), name)
    expect(report).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: { code, message: expect.stringMatching(/^The input .+\.$/) },
    })
  })

  test("of plain text", async () => {
    const report = await transcribe(new TextEncoder().encode("Plain words.\n"), "in.mp4")
    expect(report).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: {
        code: "invalid_input",
        message: '"file.mp4" is damaged or no readable media.',
      },
    })
  })

  test("beyond its time limit", async () => {
    const header = waveHeader(HOURS_BYTES, 8000)
    const bytes = Buffer.concat([header, Buffer.alloc(HOURS_BYTES)])
    const report = await transcribe(bytes, "in.wav", { run_seconds_max: 1 }, { plan: "trial" })
    expect(report).toMatchObject({
      kind: "failed",
      failure: {
        code: "time_limit",
        message:
          "The work was stopped: a transcription may run for 1 seconds on the trial plan: divide the work, or ask the operator of this service for another plan; GET /v1/account shows limits and use.",
      },
    })
  })
})

test("audio without samples succeeds with an empty transcript", async () => {
  const bytes = await media("-f lavfi -i anullsrc=r=16000 -t 0 -c:a pcm_s16le in.wav", "in.wav")
  expect(isNothing(await transcribe(bytes, "in.wav"))).toBe(true)
})

describe.skipIf(LACK !== null)(`whisper${makeSkipSuffix(LACK)}`, () => {
  test("transcribes the centre of six channels, and stores all formats", async () => {
    const bytes = await media("-i spoken.wav -af pan=5.1|FC=c0|FL=0*c0 in.flac", "in.flac")
    const report = await transcribe(bytes, "in.flac", { language: "en", language_tag: "en-GB" })
    const result = resultOf(report)
    expect(result.text).toMatch(WORDS)
    expect(result.language).toBe("en")
    expect(result.duration_seconds).toBeCloseTo(4.6, 0)
    expect(result.warnings).toEqual([])
    expect(result.outputs).toEqual(
      [
        ["srt", "application/x-subrip"],
        ["json", "application/json"],
        ["vtt", "text/vtt"],
        ["txt", "text/plain; charset=utf-8"],
      ].map(([key = "", contentType]) => {
        expect(harness.io.outputs.get(key)?.contentType).toBe(contentType)
        const size = harness.io.outputs.get(key)?.bytes.length
        return { key, size_bytes: size, content_type: contentType }
      }),
    )
    const json = z
      .object({
        language: z.string(),
        segments: z.array(z.object({ words: z.array(z.unknown()) })),
      })
      .parse(JSON.parse(stored("json")))
    expect(json.language).toBe("en-GB")
    expect(json.segments.flatMap(({ words }) => words)).not.toHaveLength(0)
    expect(stored("srt")).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n\w/)
    expect(stored("vtt")).toMatch(/^WEBVTT\n\n1\n00:00:0\d\.\d{3} --> /)
    expect(stored("txt")).toMatch(/man walked [^\r]*november\.\n$/i)
    expect(harness.io.reports.map(({ kind }) => kind)).toContain("started")
  })

  test.for([
    [
      "with a late start, in channels of opposite polarity",
      "-f lavfi -i testsrc2=s=64x36:d=8 -itsoffset 2 -i spoken.wav -map 0:v -map 1:a -af pan=stereo|c0=c0|c1=-1*c0 in.mkv",
      2000,
    ],
    [
      "in channels without a layout",
      `-i spoken.wav -af aeval=val(0)|val(0)${"|0".repeat(10)} in.wav`,
      0,
    ],
  ] as const)("transcribes audio %s, at its time", async ([, words, fromMs]) => {
    const name = words.split(" ").at(-1) ?? ""
    const report = await transcribe(await media(words, name), name)
    expect(resultOf(report).text).toMatch(WORDS)
    const [, seconds] = /00:00:(\d\d,\d{3}) -->/.exec(stored("srt")) ?? []
    const startMs = Number(seconds?.replace(",", ""))
    expect(Math.abs(startMs - fromMs)).toBeLessThan(700)
  })

  test("transcribes the intact part of a damaged file, with the requested shape of cues", async () => {
    const whole = await media("-i spoken.wav -c:a libmp3lame in.mp3", "in.mp3")
    const shape = { words_per_cue: 4, max_line_length: 20 }
    const report = await transcribe(whole.slice(0, Math.floor(whole.length * 0.7)), "in.mp3", shape)
    const { text, warnings } = resultOf(report)
    expect(text).toMatch(/man walked along the river/i)
    expect(warnings).toMatchObject([{ code: "input_damaged" }])
    const lines = stored("srt").split("\n")
    const texts = lines.filter((line) => /[a-z]/i.test(line))
    expect(texts.length).toBeGreaterThanOrEqual(3)
    for (const line of texts) expect(line.length).toBeLessThanOrEqual(20)
  })

  test("transcribes silence as an empty text, with a warning", async () => {
    const bytes = await media("-f lavfi -i anullsrc=r=16000 -t 3 in.wav", "in.wav")
    expect(isNothing(await transcribe(bytes, "in.wav"))).toBe(true)
  })
})

/** Transcribes bytes; returns the last report. */
function transcribe(
  bytes: Uint8Array,
  name: string,
  work: Record<string, unknown> = {},
  more: { plan?: string } = {},
): Promise<Report> {
  harness.io.inputs.set("file", new Uint8Array(bytes))
  const extension = name.slice(name.lastIndexOf("."))
  const order = harness.order([], {
    inputs: [{ key: "file", name: `file${extension}`, size_bytes: bytes.length }],
    work: {
      kind: "transcribe",
      model: "base",
      language: "auto",
      task: "transcribe",
      run_seconds_max: 60,
      outputs: FORMATS.map((key) => ({ key, name: `transcript.${key}` })),
      ...work,
    },
    ...more,
  })
  return harness.finish(order)
}

function resultOf(report: Report) {
  expect(report).toMatchObject({ kind: "finished" })
  return transcribeTaskDefinition.result.parse(report.kind === "finished" ? report.result : null)
}

/** Reports whether a transcription succeeded and is empty in all formats. */
function isNothing(report: Report): boolean {
  const { text, language, warnings } = resultOf(report)
  const { segments } = z
    .object({ segments: z.array(z.unknown()) })
    .parse(JSON.parse(stored("json")))
  const texts = ["srt", "vtt", "txt"].map(stored)
  expect(texts).toEqual(["", "WEBVTT\n", ""])
  expect(warnings).toMatchObject([{ code: "no_speech" }])
  return text === "" && language === null && segments.length === 0
}

function stored(key: string): string {
  const bytes = harness.io.outputs.get(key)?.bytes
  if (!bytes) throw new Error(`There is no output ${key}.`)
  return new TextDecoder().decode(bytes)
}

/** Creates a file by ffmpeg; returns its bytes. */
async function media(words: string, name: string): Promise<Uint8Array> {
  await run("ffmpeg", ["-v", "error", "-y", ...words.split(" ")], { cwd: folder })
  return await readFile(join(folder, name))
}
