import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { makeJsonBody } from "../../scripts/cli/client/caller.ts"
import type { ApiCaller } from "../../scripts/cli/client/caller.ts"
import { makeMediaFile } from "../../scripts/cli/client/media.ts"
import { waitUntilSuccess, uploadMedia } from "../../scripts/cli/client/requests.ts"
import { startWranglerDevService } from "../../scripts/image/service.ts"
import { makeTempFolder } from "../../scripts/cli/temp-folder.ts"
import {
  SHORT_SPEECH_TEXT,
  makeSkipSuffix,
  generateSpeech,
  explainMissingFlite,
} from "../support/media/speech.ts"
import { wordErrorRate } from "../support/media/word-error-rate.ts"

const LACK = await explainMissingFlite()
/** A container that is started loads its model, too. */
const BUSY = { timeLimitMs: 80_000 }
const ERROR_RATE_MAX = 0.2

const normalized = z.object({
  normalization_type: z.string(),
  target_reached: z.boolean(),
  measurements: z.object({
    after: z.object({ integrated_lufs: z.number(), true_peak_dbtp: z.number() }),
  }),
})

describe.skipIf(LACK !== null)(`sound on containers${makeSkipSuffix(LACK)}`, () => {
  const opened = new AsyncDisposableStack()
  let folder: string
  let spoken: string
  let caller: ApiCaller

  beforeAll(async () => {
    folder = opened.use(await makeTempFolder("image-sound")).path
    spoken = await generateSpeech(folder, { text: SHORT_SPEECH_TEXT })
    const service = opened.use(await startWranglerDevService())
    caller = (await service.openAccount("one")).caller
  })

  afterAll(() => opened.disposeAsync())

  async function read(path: string): Promise<unknown> {
    return JSON.parse((await caller.ask("GET", path)).text)
  }

  it.for([
    ["linear", "speech.flac", -23, "-c:a flac"],
    ["dynamic", "speech.m4a", -12, "-c:a aac -b:a 128k"],
  ] as const)("reaches a target loudness, %s, in %s", async ([type, name, target, words]) => {
    const path = await makeMediaFile(folder, name, `-i ${spoken} ${words}`)
    const order = { file_url: `svc_id://${await uploadMedia(caller, path)}`, loudnorm_i: target }
    const { text } = await caller.ask("POST", "/v1/normalize", makeJsonBody(order))
    const { normalization_id: id } = z
      .object({ normalization_id: z.uuid() })
      .parse(JSON.parse(text))
    await waitUntilSuccess(caller, `/v1/normalize/${id}`, BUSY)
    const made = normalized.parse(await read(`/v1/normalize/${id}`))
    expect(made).toMatchObject({ normalization_type: type, target_reached: true })
    const { integrated_lufs, true_peak_dbtp } = made.measurements.after
    expect(Math.abs(integrated_lufs - target)).toBeLessThanOrEqual(0.5)
    expect(true_peak_dbtp).toBeLessThanOrEqual(-0.5)
  })

  it("is transcribed if it contains speech", async () => {
    const order = { source: `svc_id://${await uploadMedia(caller, spoken)}`, format: "vtt" }
    const { text } = await caller.ask("POST", "/v1/transcribe", makeJsonBody(order))
    const { transcribe_id: id } = z.object({ transcribe_id: z.uuid() }).parse(JSON.parse(text))
    await waitUntilSuccess(caller, `/v1/transcribe/${id}`, BUSY)
    const { transcript, language } = z
      .object({ transcript: z.string(), language: z.string() })
      .parse(await read(`/v1/transcribe/${id}`))
    expect(language).toBe("en")
    expect(wordErrorRate(SHORT_SPEECH_TEXT, transcript)).toBeLessThanOrEqual(ERROR_RATE_MAX)
  })
})
