import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { loudnessSchema } from "../../../src/contract/tasks/normalize.ts"
import {
  makeMediaFile,
  runUnsandboxed,
  serviceToolPaths,
} from "../../../scripts/cli/client/media.ts"
import { measureLoudness } from "../../../scripts/cli/loudness-meter.ts"
import { startTestSite } from "../../support/site/site.ts"
import type { TestSite } from "../../support/site/site.ts"
import { openSoundStage } from "./sound-stage.ts"
import type { SoundStage } from "./sound-stage.ts"

const created = z.looseObject({ normalization_id: z.uuid() })
const namedOutput = z.looseObject({ id: z.uuid(), name: z.string(), url: z.url() })
const record = z.looseObject({
  file_ids: z.object({ output: z.uuid() }),
  outputs: z.array(namedOutput).optional(),
  id: z.uuid(),
  status: z.string(),
  error_code: z.string().optional(),
  file_id: z.uuid(),
  download_url: z.url().optional(),
  measurements: z.object({ before: loudnessSchema, after: loudnessSchema }).optional(),
  normalization_type: z.string().optional(),
  target_reached: z.boolean().optional(),
  warnings: z.array(z.looseObject({ code: z.string() })),
})

/** Noise that swells and ebbs, as music and speech do; its peaks leave room for a gain. */
const SWELL =
  "-f lavfi -i anoisesrc=color=pink:amplitude=0.1:seed=7:duration=12:sample_rate=48000 " +
  "-af tremolo=f=0.4:d=0.6"
const PICTURE = "-f lavfi -i testsrc=size=64x64:rate=10 -t 1 -c:v libx264"

let stage: SoundStage
let site: TestSite

beforeAll(async () => {
  site = await startTestSite()
  stage = await openSoundStage("normalize")
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await site.close()
})

async function make(name: string, words: string): Promise<string> {
  return await makeMediaFile(stage.folder, name, words)
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
  const found = await measureLoudness(await stage.download(url ?? ""), { stream })
  if (!found) throw new Error("there is no sound")
  return found
}

describe("a normalization", () => {
  it("of an upload has the reported loudness, and sends its webhook", async () => {
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
    const [output] = shown.outputs ?? []
    expect(output).toMatchObject({ id: shown.file_ids.output, name: "swell.wav" })
    expect(output?.url).toMatch(/\/swell\.wav$/)
    for (const url of [shown.download_url, output?.url]) {
      const sent = await stage.call(url ?? "", { redirect: "manual" })
      expect([sent.status, sent.headers.get("location")]).toEqual([
        302,
        expect.stringMatching(/\/swell\.wav$/),
      ])
      const { headers, body } = await stage.call(url ?? "")
      expect(headers.get("content-disposition")).toContain("filename=swell.wav")
      await body?.cancel()
    }
    const { lufs, truePeakDbtp } = await meter(shown.download_url)
    expect(Math.abs(lufs + 23)).toBeLessThanOrEqual(0.3)
    expect(truePeakDbtp).toBeLessThanOrEqual(-1)
    const before = await measureLoudness(source)
    const { measurements } = shown
    expect(measurements?.before.integrated_lufs).toBeCloseTo(before?.lufs ?? 0, 0)
    expect(measurements?.after.integrated_lufs).toBeCloseTo(lufs, 0)
    expect(measurements?.after.true_peak_dbtp).toBeCloseTo(truePeakDbtp, 0)
    const [told] = await stage.receiver.untilReceived(1)
    if (!told) throw new Error("no webhook")
    const again = await (await stage.call(`/normalize/${shown.id}`)).json()
    expect(stage.verify(told)).toMatchObject({ type: "normalize.succeeded", data: again })
  })

  it("of a video keeps its picture, and reaches the loudness in every audio stream", async () => {
    const sound = await make("loud.wav", `${SWELL},volume=-12dB -ac 1`)
    const words = `-i ${sound} -i ${sound} -f lavfi -i testsrc=size=64x64:rate=10 -shortest`
    const maps = "-map 2:v -map 0:a -map 1:a -filter:a:1 volume=-7dB -c:v libx264 -c:a aac"
    const source = await make("film.mkv", `${words} ${maps} -metadata:s:a:1 language=fra`)
    const shown = await normalize(source, { loudnorm_i: -20 })
    expect(shown).toMatchObject({ status: "success", target_reached: true, container: "matroska" })
    const path = await stage.download(shown.download_url ?? "")
    for (const stream of [0, 1]) {
      const found = await measureLoudness(path, { stream })
      expect(Math.abs((found?.lufs ?? 0) + 20)).toBeLessThanOrEqual(0.5)
    }
    const [one, other] = await Promise.all([source, path].map(hashOfPicture))
    expect(other).toBe(one)
    const words2 = "-v error -select_streams a:1 -show_entries stream_tags=language -of csv=p=0"
    const said = await runUnsandboxed(
      serviceToolPaths.ffprobe,
      [...words2.split(" "), path],
      stage.folder,
    )
    expect(said.trim()).toBe("fra")
  })

  it("of a URL makes its source a File, which outlives the normalization", async () => {
    const file_url = site.url("/media/clip.m4a")
    const shown = await readAtEnd(await stage.postJson("/normalize", { file_url }))
    expect(shown).toMatchObject({ status: "success", codec: "aac" })
    expect(shown.download_url).toMatch(/\/output\.m4a$/)
    const sha256 = expect.stringMatching(/^[\da-f]{64}$/)
    expect(shown.outputs).toMatchObject([{ name: "clip.m4a", sha256 }])
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

  it("of a video without audio is refused with no_audio, or fails with it before its probe", async () => {
    const source = await make("mute.mp4", PICTURE)
    const file_url = `svc_id://${await stage.upload(source)}`
    const refused = await stage.postJson("/normalize", { file_url })
    expect(refused.status).toBe(422)
    const fault = { field: "file_url", code: "no_audio" }
    expect(await refused.json()).toMatchObject({ details: [fault] })
    const sent = await readAtEnd(await stage.postFile("/normalize", source))
    expect(sent).toMatchObject({ status: "failed", error_code: "no_audio" })
    expect(sent.download_url).toBeUndefined()
  })
})

async function hashOfPicture(path: string): Promise<string> {
  const words = `-v error -i ${path} -map 0:v -c copy -f md5 -`
  return await runUnsandboxed(serviceToolPaths.ffmpeg, words.split(" "), stage.folder)
}
