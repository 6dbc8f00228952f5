import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { openAccount } from "../../corpus/account.ts"
import type { Account } from "../../corpus/account.ts"
import { makeMedia } from "../../corpus/fixtures.ts"
import { EMPTY_CASES, RIGHT_CASES } from "./empty-output-cases.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const QUICK = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 5 -c:a aac"
const PICTURE = "-f lavfi -i testsrc2=s=160x120:r=10"

/**
 * Inputs by key: two seconds of film, sound, a photo, subtitles, films of sound that ends early,
 * and a film of one group.
 */
const MEDIA: [key: string, name: string, words: string][] = [
  ["in_1", "clip.mp4", `${PICTURE} -f lavfi -i sine=d=2 -t 2 ${QUICK}`],
  ["in_2", "tone.wav", "-f lavfi -i sine=d=2"],
  ["in_3", "photo.jpg", `${PICTURE} -frames:v 1`],
  ["in_4", "words.srt", ""],
  ["in_5", "film.mkv", "-i clip.mp4 -i words.srt -map 0 -map 1 -c copy"],
  ["in_6", "early.mkv", `${PICTURE} -f lavfi -i sine=d=1 -t 6 ${QUICK}`],
  ["in_7", "early.mp4", `${PICTURE} -f lavfi -i sine=d=1 -t 6 ${QUICK}`],
  ["in_8", "long.mp4", `${PICTURE} -f lavfi -i sine=d=8 -t 8 ${QUICK} -g 100`],
]
const WORDS = "1\n00:00:00,000 --> 00:00:01,900\nThe quick brown fox\n"

let service: TestService
let account: Account
let folder: string
const ids = new Map<string, string>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-empty-"))
  service = await startService()
  account = openAccount(service.origin, await service.makeKey("empty"))
  await makeMedia(
    folder,
    { "words.srt": WORDS },
    MEDIA.filter(([, , words]) => words !== "").map(([, name, words]) => [name, words]),
  )
  for (const [key, name] of MEDIA) {
    const { id } = await account.upload(name, new Uint8Array(await readFile(join(folder, name))))
    ids.set(key, id)
  }
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** References to the inputs that a line names. */
function inputsOf(...lines: string[]): Record<string, string> {
  const named = [...ids].filter(([key]) => lines.some((line) => line.includes(key)))
  return Object.fromEntries(named.map(([key, id]) => [key, `svc_id://${id}`]))
}

async function run(line: string | string[], outputs: Record<string, string>) {
  const lines = [line].flat()
  const { record, refused } = await account.run({
    ...(typeof line === "string" ? { ffmpeg_command: line } : { ffmpeg_commands: line }),
    input_files: inputsOf(...lines),
    output_files: outputs,
  })
  expect(refused).toBeNull()
  if (!record) throw new Error("it was refused")
  return record
}

describe.concurrent("a video or audio output without a packet is a failure", () => {
  test.for(EMPTY_CASES.map(({ name, line }) => [line, name] as const))(
    "%s (%s)",
    async ([line, name]) => {
      const record = await run(line, { out_1: name })
      expect(record).toMatchObject({ status: "failed", error_code: "no_output", warnings: [] })
      expect(record.error).toContain(`The output out_1 ("${name}")`)
    },
  )

  test("an empty manifest is a failure, whether ffmpeg completes or crashes", async () => {
    const line = "ffmpeg -stream_loop 0 -ss 500 -i in_1 out_1"
    expect((await run(line, { out_1: "o.mpd" })).status).toBe("failed")
  })

  test("the failure names the empty one of several outputs", async () => {
    const line = "ffmpeg -i in_1 out_1 -vf select=0 -af aselect=0 out_2"
    const record = await run(line, { out_1: "a.mp4", out_2: "b.mp4" })
    expect(record).toMatchObject({ status: "failed", error_code: "no_output" })
    expect(record.error).toContain('out_2 ("b.mp4")')
  })

  test.for<[line: string, name: string, why: string]>([
    ["ffmpeg -stream_loop 0 -ss 500 -i in_1 out_1", "o.mp4", "holds no picture and no sound"],
    ["ffmpeg -i in_1 -vf select=0 -an out_1", "o.mkv", 'the filter "select"'],
    ["ffmpeg -i in_1 -t 0 out_1", "o.flac", "-t 0 leaves it empty"],
    ["ffmpeg -i in_1 -frames:v 0 -an out_1", "o.mp4", "-frames:v 0 leaves it empty"],
    ["ffmpeg -i in_1 -vf scale=80:60 -ss 500 out_1", "o_%d.png", "-t, -to and -frames"],
    ["ffmpeg -i in_1 -vf select=0 -an -v error out_1", "o.ts", 'the filter "select"'],
    ["ffmpeg -i in_1 -vf select=0 -v error out_1", "o.gif", 'the filter "select"'],
  ])("%s (%s) has its reason: %s", async ([line, name, why]) => {
    expect((await run(line, { out_1: name })).error).toContain(why)
  })
})

describe.concurrent("a complete output succeeds without a warning", () => {
  test.for(RIGHT_CASES.map(({ name, line }) => [line, name] as const))(
    "%s (%s)",
    async ([line, name]) => {
      const { status, error, warnings } = await run(line, { out_1: name })
      expect({ status, error, warnings }).toEqual({
        status: "success",
        error: undefined,
        warnings: [],
      })
    },
  )

  test("an empty file between two commands is allowed", async () => {
    const lines = ["ffmpeg -i in_1 -t 0 between.mp4", "ffmpeg -i in_1 -c copy out_1"]
    const { status, warnings } = await run(lines, { out_1: "o.mp4" })
    expect({ status, warnings }).toEqual({ status: "success", warnings: [] })
  })
})

describe.concurrent("a seek past the end of an input of known length", () => {
  const LATE = [
    "ffmpeg -ss 500 -i {{in_1}} {{out_1}}",
    "ffmpeg -ss 00:08:20 -i in_1 -c copy out_1",
    "ffmpeg -i in_1 -ss 500 out_1",
    "ffmpeg -ss 1 -i in_1 -ss 1.5 -c copy out_1",
    "ffmpeg -ss 2500ms -t 3 -i in_2 -i in_1 out_1",
  ]

  test.for(LATE)("%s is refused", async (line) => {
    const body = {
      ffmpeg_command: line,
      input_files: inputsOf(line),
      output_files: { out_1: "o.mkv" },
    }
    const { refused } = await account.run(body)
    const detail = {
      field: "ffmpeg_command",
      option: "-ss",
      code: "seek_behind_end",
      message: expect.stringMatching(
        /^-ss \S+ is past the end of in_\d\.\w+ \(2\S* seconds? long\); seek to an earlier time$/,
      ),
    }
    expect(refused?.status).toBe(422)
    expect(JSON.parse(refused?.text ?? "")).toMatchObject({ details: [detail] })
    const headers = { "content-type": "application/json" }
    const answer = await account.call("/commands/validate", {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    })
    expect(await answer.json()).toMatchObject({ valid: false, errors: [detail] })
  })

  test("is never a success while its probe may still run", async () => {
    const form = new FormData()
    form.append("file", new Blob([await readFile(join(folder, "clip.mp4"))]), "clip.mp4")
    const answer = await account.call("/files", { method: "POST", body: form })
    const { id } = z.looseObject({ id: z.string() }).parse(await answer.json())
    const { record, refused } = await account.run({
      ffmpeg_command: "ffmpeg -ss 500 -i in_1 out_1",
      input_files: { in_1: `svc_id://${id}` },
      output_files: { out_1: "o.mp4" },
    })
    const outcome = refused?.status ?? [record?.status, record?.error]
    const why = "-ss 500 is past the end of in_1.mp4 (2 seconds long)"
    const failed = `The output out_1 ("o.mp4") holds no picture and no sound: ${why}.`
    const late = `The job could not start: ffmpeg_command: ${why}; seek to an earlier time.`
    expect([422, ["failed", failed], ["failed", late]]).toContainEqual(outcome)
  })
})
