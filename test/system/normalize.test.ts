import { readFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { loudness } from "../../src/contract/tasks/normalize.ts"
import { makeMedia, runBare, tools } from "../../scripts/local/client/media.ts"
import { meterLoudness } from "../../scripts/local/loudness-meter.ts"
import { openSite } from "../support/site/site.ts"
import type { Site } from "../support/site/site.ts"
import { widely } from "../support/wide.ts"
import { openSoundStage } from "./sound-stage.ts"
import type { SoundStage } from "./sound-stage.ts"

const created = z.looseObject({ normalization_id: z.uuid() })
const record = z.looseObject({
  id: z.uuid(),
  status: z.string(),
  error_code: z.string().optional(),
  file_id: z.uuid(),
  download_url: z.url().optional(),
  measurements: z.object({ before: loudness, after: loudness }).optional(),
  normalization_type: z.string().optional(),
  target_reached: z.boolean().optional(),
  warnings: z.array(z.looseObject({ code: z.string() })),
})
const problem = z.looseObject({
  code_name: z.string(),
  details: z.array(z.looseObject({ field: z.string(), message: z.string() })),
})

/** Noise that swells and ebbs, as music and speech do; its peaks leave room for a gain. */
const SWELL =
  "-f lavfi -i anoisesrc=color=pink:amplitude=0.1:seed=7:duration=12:sample_rate=48000 " +
  "-af tremolo=f=0.4:d=0.6"
/** The same with claps, which are in the way of a louder sound. */
const CLAPS =
  "-f lavfi -i aevalsrc=exprs='0.02*sin(2*PI*330*t)+0.9*sin(2*PI*900*t)*lt(mod(t,2),0.004)':" +
  "s=48000:d=12 -ac 2"
const SILENCE = "-f lavfi -i anullsrc=r=44100:cl=stereo -t 2"
const PICTURE = "-f lavfi -i testsrc=size=64x64:rate=10 -t 1 -c:v libx264"

let stage: SoundStage
let site: Site

beforeAll(async () => {
  site = await openSite()
  stage = await openSoundStage("normalize")
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await site.close()
})

async function make(name: string, words: string): Promise<string> {
  return await makeMedia(stage.folder, name, words)
}

async function readAtEnd(answer: Response) {
  expect(answer.status).toBe(202)
  const { normalization_id } = created.parse(await answer.json())
  return await stage.readEnd(`/normalize/${normalization_id}`, record)
}

/** Normalizes a file of the account. */
async function normalize(source: string, changes: object = {}) {
  const file_url = `svc_id://${await stage.upload(source)}`
  return await readAtEnd(await stage.postJson("/normalize", { file_url, ...changes }))
}

async function meter(url: string | undefined, stream = 0) {
  const found = await meterLoudness(await stage.download(url ?? ""), { stream })
  if (!found) throw new Error("there is no sound")
  return found
}

describe("a normalization", () => {
  it("of an upload has the loudness it says, and tells its webhook", async () => {
    const source = await make("swell.wav", `${SWELL} -ac 2`)
    const webhook = `${stage.receiver.origin}/normalized`
    const shown = await readAtEnd(await stage.postFile("/normalize", source, { webhook }))
    expect(shown).toMatchObject({
      status: "success",
      loudnorm_i: -23,
      loudnorm_lra: 20,
      loudnorm_tp: -1,
      normalization_type: "linear",
      target_reached: true,
      container: "wav",
      codec: "pcm_s16le",
      converted_from: null,
      content_type: expect.stringMatching(/^audio\/.*wav$/),
      duration_seconds: expect.closeTo(12, 0),
      warnings: [],
    })
    expect(shown.download_url).toMatch(/\/v1\/files\/[\da-f-]{36}\/output\.wav$/)
    const sent = await stage.call(shown.download_url ?? "", { redirect: "manual" })
    expect(sent.status).toBe(302)
    const { lufs, truePeakDbtp } = await meter(shown.download_url)
    expect(Math.abs(lufs + 23)).toBeLessThanOrEqual(0.3)
    expect(truePeakDbtp).toBeLessThanOrEqual(-1)
    const before = await meterLoudness(source)
    const { measurements } = shown
    expect(measurements?.before.integrated_lufs).toBeCloseTo(before?.lufs ?? 0, 0)
    expect(measurements?.after.integrated_lufs).toBeCloseTo(lufs, 0)
    expect(measurements?.after.true_peak_dbtp).toBeCloseTo(truePeakDbtp, 0)
    const [told] = await stage.receiver.untilReceived(1)
    if (!told) throw new Error("no webhook")
    const again = await (await stage.call(`/normalize/${shown.id}`)).json()
    expect(stage.verify(told)).toMatchObject({ type: "normalize.succeeded", data: again })
  })

  it("of a video keeps its picture, and has the loudness in every audio stream", async () => {
    const sound = await make("loud.wav", `${SWELL},volume=-12dB -ac 1`)
    const words = `-i ${sound} -i ${sound} -f lavfi -i testsrc=size=64x64:rate=10 -shortest`
    const maps = "-map 2:v -map 0:a -map 1:a -filter:a:1 volume=-7dB -c:v libx264 -c:a aac"
    const source = await make("film.mkv", `${words} ${maps} -metadata:s:a:1 language=fra`)
    const shown = await normalize(source, { loudnorm_i: -20 })
    expect(shown).toMatchObject({ status: "success", target_reached: true, container: "matroska" })
    const path = await stage.download(shown.download_url ?? "")
    for (const stream of [0, 1]) {
      const found = await meterLoudness(path, { stream })
      expect(Math.abs((found?.lufs ?? 0) + 20)).toBeLessThanOrEqual(0.5)
    }
    const [one, other] = await Promise.all([source, path].map(hashOfPicture))
    expect(other).toBe(one)
    const words2 = "-v error -select_streams a:1 -show_entries stream_tags=language -of csv=p=0"
    const said = await runBare(tools.ffprobe, [...words2.split(" "), path], stage.folder)
    expect(said.trim()).toBe("fra")
  })

  it("of what a URL names makes it a File, which outlives it", async () => {
    const file_url = site.url("/media/clip.m4a")
    const shown = await readAtEnd(await stage.postJson("/normalize", { file_url }))
    expect(shown).toMatchObject({ status: "success", codec: "aac" })
    expect(shown.download_url).toMatch(/\/output\.m4a$/)
    const listed = z.array(record).parse(await (await stage.call("/normalize")).json())
    expect(listed.map(({ id }) => id)).toContain(shown.id)
    const input = await (await stage.call(`/files/${shown.file_id}`)).json()
    expect(input).toMatchObject({ status: "success", source: "import" })
    const removed = await stage.call(`/normalize/${shown.id}`, { method: "DELETE" })
    expect([removed.status, await removed.json()]).toEqual([200, {}])
    const answers = await Promise.all(
      [`/normalize/${shown.id}`, shown.download_url ?? "", `/files/${shown.file_id}`].map((path) =>
        stage.call(path),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 200])
  })

  it("limits peaks that are in the way, and says so", async () => {
    const target = { loudnorm_i: -20, loudnorm_tp: -2 }
    const shown = await normalize(await make("claps.flac", CLAPS), target)
    expect(shown).toMatchObject({ status: "success", normalization_type: "dynamic" })
    const { lufs, truePeakDbtp } = await meter(shown.download_url)
    expect(truePeakDbtp).toBeLessThanOrEqual(-1.5)
    expect(shown.target_reached).toBe(Math.abs(lufs + 20) <= 0.5)
  })

  it.each(
    widely(
      [],
      [
        ["swell.mp3", "-ar 44100 -c:a libmp3lame -b:a 128k"],
        ["swell.opus", "-c:a libopus -b:a 96k"],
        ["swell.flac", "-ar 96000 -c:a flac"],
        ["swell.webm", "-c:a libopus -b:a 96k"],
        ["swell.mov", "-c:a pcm_s24le"],
        ["phone.wav", "-ar 8000 -ac 1 -c:a pcm_s16le"],
        ["surround.mkv", "-ac 6 -c:a ac3"],
      ],
    ),
  )("of %s has the target's loudness in the same format", async (name, words) => {
    const shown = await normalize(await make(name, `${SWELL} ${words}`))
    expect(shown).toMatchObject({ status: "success", target_reached: true, converted_from: null })
    const { lufs, truePeakDbtp } = await meter(shown.download_url)
    expect(Math.abs(lufs + 23)).toBeLessThanOrEqual(0.5)
    expect(truePeakDbtp).toBeLessThanOrEqual(-0.5)
  })

  it("of silence is a success that changes nothing, with a warning", async () => {
    const source = await make("silence.wav", SILENCE)
    const shown = await normalize(source)
    expect(shown).toMatchObject({ status: "success", normalization_type: "none" })
    expect(shown.measurements?.before.integrated_lufs).toBeNull()
    expect(shown.warnings.map(({ code }) => code)).toContain("silent")
    const path = await stage.download(shown.download_url ?? "")
    expect((await readFile(path)).equals(await readFile(source))).toBe(true)
  })

  it("of a video without sound fails as no_audio, however it came", async () => {
    const source = await make("mute.mp4", PICTURE)
    const [stored, sent] = await Promise.all([
      normalize(source),
      stage.postFile("/normalize", source).then(readAtEnd),
    ])
    for (const shown of [stored, sent]) {
      expect(shown).toMatchObject({ status: "failed", error_code: "no_audio" })
      expect(shown.download_url).toBeUndefined()
    }
  })
})

describe("a body that cannot be used", () => {
  const some = "svc_id://00000000-0000-4000-8000-000000000000"

  it.each([
    [{}, "file_url"],
    [{ file_url: "nowhere" }, "file_url"],
    [{ file_url: some }, "file_url"],
    [{ file_url: "http://10.0.0.1/a.wav" }, "file_url"],
    [{ file_url: some, loudnorm_i: -4.9 }, "loudnorm_i"],
    [{ file_url: some, loudnorm_i: -70.1 }, "loudnorm_i"],
    [{ file_url: some, loudnorm_i: "loud" }, "loudnorm_i"],
    [{ file_url: some, loudnorm_lra: 0.9 }, "loudnorm_lra"],
    [{ file_url: some, loudnorm_lra: 50.1 }, "loudnorm_lra"],
    [{ file_url: some, loudnorm_tp: 0.1 }, "loudnorm_tp"],
    [{ file_url: some, loudnorm_tp: -9.1 }, "loudnorm_tp"],
    [{ file_url: some, webhook: "nowhere" }, "webhook"],
    [{ file_url: some, loudness: 1 }, "loudness"],
  ])("as %j is a 422 that names %s", async (body, field) => {
    const answer = await stage.postJson("/normalize", body)
    expect(answer.status).toBe(422)
    const { details } = problem.parse(await answer.json())
    expect(details.map((each) => each.field)).toContain(field)
  })

  it.each([
    [{ loudnorm_i: "-23" }, "file"],
    [{ file: new Blob(["RIFF"]), file_url: some }, "file_url"],
    [{ file: new Blob(["RIFF"]), loudnorm_i: "-4" }, "loudnorm_i"],
    [{ file: new Blob(["RIFF"]), loudnorm_tp: "x" }, "loudnorm_tp"],
  ])("as the form %o is a 422 that names %s, and stores nothing", async (fields, field) => {
    const before: unknown = await (await stage.call("/files?limit=100")).json()
    const answer = await stage.postForm("/normalize", fields, "a.wav")
    expect(answer.status).toBe(422)
    const { details } = problem.parse(await answer.json())
    expect(details.map((each) => each.field)).toContain(field)
    expect(await (await stage.call("/files?limit=100")).json()).toEqual(before)
  })
})

async function hashOfPicture(path: string): Promise<string> {
  const words = `-v error -i ${path} -map 0:v -c copy -f md5 -`
  return await runBare(tools.ffmpeg, words.split(" "), stage.folder)
}
