import { z } from "zod"
import {
  requestLiveCheckJson,
  downloadBytes,
  postLiveCheckJson,
  waitUntilCheckedJobEnds,
  uploadUntilProbed,
} from "./api.ts"
import type { LiveCheckApi, CheckedFile, CheckedJob } from "./api.ts"
import { LiveCheckStepError } from "./step-error.ts"
import { createJobWithWebhook, waitUntilWebhookIsDelivered } from "./webhook.ts"
import type { LiveCheckWebhook } from "./webhook.ts"

/** Results of earlier steps that later steps need. */
export type LiveCheckStepResults = {
  /** URL that receives the webhook of the check, and the expected response. */
  webhook: LiveCheckWebhook
  /** URL of media to fetch and to look up; null if the operator names none. */
  checkUrl: string | null
  /** `svc_id://` references of uploaded files. */
  tone?: string
  film?: string
  commandId?: string
}

/** Result of a step that did not fail: a summary, or the reason why the step was not checked. */
export type LiveCheckStepResult = { summary: string } | { unchecked: string }

export type LiveCheckStep = {
  name: string
  /** Earlier step whose result this step needs. */
  needs?: "upload" | "command"
  run(api: LiveCheckApi, results: LiveCheckStepResults): Promise<LiveCheckStepResult>
}

/**
 * Steps of the live check, in the order in which they run. Each step tests a different feature of
 * the service.
 */
export const LIVE_CHECK_STEPS: readonly LiveCheckStep[] = [
  { name: "upload", run: uploadTone },
  { name: "command", needs: "upload", run: runCommand },
  { name: "webhook", needs: "command", run: receiveWebhook },
  { name: "normalize", needs: "upload", run: normalizeTone },
  { name: "transcode", needs: "command", run: transcodeFilm },
  { name: "transcribe", needs: "upload", run: transcribeTone },
  { name: "fetch", run: fetchMedia },
  { name: "lookup", run: lookUpMedia },
]

const SIZE = { width: 640, height: 480 }
/** Bounds of the probed duration, in seconds. Encoders may add a frame of audio at both ends. */
const SECONDS = { least: 0.9, most: 1.3 }

const facts = z.looseObject({
  format_name: z.string(),
  duration: z.number(),
  width: z.number().optional(),
  height: z.number().optional(),
  streams: z.array(z.looseObject({ codec_name: z.string().optional() })),
})

async function uploadTone(
  api: LiveCheckApi,
  results: LiveCheckStepResults,
): Promise<LiveCheckStepResult> {
  const bytes = makeTone()
  const file = await uploadUntilProbed(api, "tone.wav", bytes)
  expectFacts(file, { format_name: "wav", codecs: ["pcm_s16le"] })
  results.tone = `svc_id://${file.id}`
  return { summary: `${bytes.byteLength} bytes were stored and probed as a WAV of 1 second` }
}

const createdCommand = z.object({ command_id: z.string() })

async function runCommand(
  api: LiveCheckApi,
  results: LiveCheckStepResults,
): Promise<LiveCheckStepResult> {
  const picture = `testsrc=size=${SIZE.width}x${SIZE.height}:rate=10:duration=1`
  const order = {
    ffmpeg_command: `ffmpeg -i {{in_1}} -f lavfi -i ${picture} -c:v libx264 -c:a aac {{out_1}}`,
    input_files: { in_1: results.tone },
    output_files: { out_1: "film.mp4" },
  }
  const { command_id: id } = await createJobWithWebhook(results.webhook, (webhook) =>
    postLiveCheckJson(api, "/commands", createdCommand, { ...order, ...webhook }),
  )
  results.commandId = id
  const film = await downloadOutput(api, await waitUntilCheckedJobEnds(api, id, "media"), judgeMp4)
  // Uploads the output again as a file and waits for ffprobe's result, which checks the content of
  // the output and not only its size.
  const file = await uploadUntilProbed(api, "film.mp4", Uint8Array.from(film))
  expectFacts(file, { format_name: "mov,mp4", codecs: ["h264", "aac"], ...SIZE })
  results.film = `svc_id://${file.id}`
  return { summary: `${film.byteLength} bytes of MP4 were returned, with H.264 and AAC` }
}

async function receiveWebhook(
  api: LiveCheckApi,
  { webhook, commandId }: LiveCheckStepResults,
): Promise<LiveCheckStepResult> {
  if (webhook.refusal !== null) return { unchecked: describeRefusal(api, webhook.refusal) }
  return { summary: await waitUntilWebhookIsDelivered(api, webhook, commandId ?? "") }
}

/** Explains how to check the webhook of a service at a private address. */
function describeRefusal(api: LiveCheckApi, refusal: string): string {
  const { host } = new URL(api.origin)
  return `the service calls no private address (${refusal}); start it with ALLOWED_PRIVATE_HOSTS=${host} for the check`
}

const TARGET_LUFS = -20
const TOLERANCE_LU = 1
const normalized = z.object({
  measurements: z.object({ after: z.object({ integrated_lufs: z.number().nullable() }) }),
})

async function normalizeTone(
  api: LiveCheckApi,
  { tone }: LiveCheckStepResults,
): Promise<LiveCheckStepResult> {
  const created = z.object({ normalization_id: z.string() })
  const order = { file_url: tone, loudnorm_i: TARGET_LUFS }
  const { normalization_id: id } = await postLiveCheckJson(api, "/normalize", created, order)
  const bytes = await downloadOutput(api, await waitUntilCheckedJobEnds(api, id, "media"), judgeWav)
  const { measurements } = await requestLiveCheckJson(api, `/normalize/${id}`, normalized)
  const { integrated_lufs: reached } = measurements.after
  if (reached === null || Math.abs(reached - TARGET_LUFS) > TOLERANCE_LU) {
    throw wrongOutput(`the loudness is ${reached} LUFS, and ${TARGET_LUFS} was requested`)
  }
  return { summary: `${bytes.byteLength} bytes of WAV were returned, at ${reached} LUFS` }
}

async function transcodeFilm(
  api: LiveCheckApi,
  { film }: LiveCheckStepResults,
): Promise<LiveCheckStepResult> {
  const created = z.object({ id: z.string() })
  const outputs = [{ codec: "h264", resolution: "480p" }]
  const { id } = await postLiveCheckJson(api, "/transcode", created, { source: film, outputs })
  const ended = await waitUntilCheckedJobEnds(api, id, "media")
  const bytes = await downloadOutput(api, ended, judgeMp4)
  const [output] = ended.outputs
  if (output?.codec !== "h264") throw wrongOutput(`the rendition has the codec ${output?.codec}`)
  return {
    summary: `${bytes.byteLength} bytes of ${output.resolution ?? "unknown size"} were returned`,
  }
}

async function transcribeTone(
  api: LiveCheckApi,
  { tone }: LiveCheckStepResults,
): Promise<LiveCheckStepResult> {
  const created = z.object({ transcribe_id: z.string() })
  const order = { file_url: tone }
  const { transcribe_id: id } = await postLiveCheckJson(api, "/transcribe", created, order)
  const { warnings } = await waitUntilCheckedJobEnds(api, id, "speech")
  if (!warnings.some(({ code }) => code === "no_speech")) {
    throw wrongOutput("speech was found in a tone, and no_speech was expected")
  }
  return { summary: "a tone has no speech (no_speech), as expected" }
}

const NO_URL = "CHECK_URL names no media to fetch"

async function fetchMedia(
  api: LiveCheckApi,
  { checkUrl }: LiveCheckStepResults,
): Promise<LiveCheckStepResult> {
  if (checkUrl === null) return { unchecked: NO_URL }
  const created = z.object({ fetch_id: z.string() })
  const { fetch_id: id } = await postLiveCheckJson(api, "/fetch", created, { url: checkUrl })
  await waitUntilCheckedJobEnds(api, id, "fetch")
  const record = await requestLiveCheckJson(
    api,
    `/fetch/${id}`,
    z.object({ download_url: z.url() }),
  )
  const bytes = await downloadBytes(api, record.download_url)
  if (bytes.byteLength === 0) throw wrongOutput("the fetched file is empty")
  return { summary: `${bytes.byteLength} bytes were fetched from CHECK_URL` }
}

async function lookUpMedia(
  api: LiveCheckApi,
  { checkUrl }: LiveCheckStepResults,
): Promise<LiveCheckStepResult> {
  if (checkUrl === null) return { unchecked: NO_URL }
  const path = `/fetch/metadata?${new URLSearchParams({ url: checkUrl }).toString()}`
  const { title } = await requestLiveCheckJson(api, path, z.object({ title: z.string().nullish() }))
  return { summary: `CHECK_URL was looked up: ${title ?? "it has no title"}` }
}

/**
 * Downloads the first output of a job. Throws a LiveCheckStepError if the size of the download
 * differs from that in the record, or if `judge` finds an error in the file.
 */
async function downloadOutput(
  api: LiveCheckApi,
  { outputs }: CheckedJob,
  judge: (bytes: Uint8Array) => string | null,
): Promise<Uint8Array> {
  const [output] = outputs
  if (!output) throw wrongOutput("the job has no output")
  const bytes = await downloadBytes(api, output.url)
  if (bytes.byteLength !== output.size_bytes) {
    throw wrongOutput(
      `${bytes.byteLength} bytes of an output of ${output.size_bytes} were returned`,
    )
  }
  const problem = judge(bytes)
  if (problem !== null) throw wrongOutput(problem)
  return bytes
}

type Expected = { format_name: string; codecs: string[]; width?: number; height?: number }

function expectFacts({ ffprobe }: CheckedFile, expected: Expected): void {
  const { data } = facts.safeParse(ffprobe)
  if (!data) throw wrongOutput("the file has no probe")
  const { least, most } = SECONDS
  const codecs = data.streams.map(({ codec_name: name }) => name ?? "none")
  const isRight =
    data.format_name.startsWith(expected.format_name) &&
    data.duration >= least &&
    data.duration <= most &&
    data.width === expected.width &&
    data.height === expected.height &&
    codecs.join() === expected.codecs.join()
  if (isRight) return
  const { format_name: format, duration, width, height } = data
  throw wrongOutput(
    `it was probed as ${JSON.stringify({ format, duration, width, height, codecs })}`,
  )
}

function wrongOutput(sentence: string): LiveCheckStepError {
  return new LiveCheckStepError(sentence, { code: WRONG_OUTPUT_CODE })
}

/** Error code of a step whose downloaded output has the wrong content. */
export const WRONG_OUTPUT_CODE = "wrong_output"

const SAMPLES_PER_SECOND = 16_000
const TONE_HERTZ = 440
const AMPLITUDE = 8000
const BYTES_PER_SAMPLE = 2
const HEADER_BYTES = 44

/** Makes a WAV file with one second of a tone, without any media tool. */
function makeTone(): Uint8Array<ArrayBuffer> {
  const samples = Int16Array.from({ length: SAMPLES_PER_SECOND }, (_, at) => {
    return Math.round(AMPLITUDE * Math.sin((2 * Math.PI * TONE_HERTZ * at) / SAMPLES_PER_SECOND))
  })
  const data = Buffer.from(samples.buffer)
  const head = Buffer.alloc(HEADER_BYTES)
  head.write("RIFF    WAVEfmt ", "latin1")
  head.writeUInt32LE(HEADER_BYTES - 8 + data.length, 4)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(SAMPLES_PER_SECOND, 24)
  head.writeUInt32LE(data.length, 28)
  head.writeUInt16LE(BYTES_PER_SAMPLE, 32)
  head.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34)
  head.write("data", 36, "latin1")
  head.writeUInt32LE(data.length, 40)
  return Uint8Array.from([...head, ...data])
}

const BOX_HEAD_BYTES = 8

/**
 * Returns an error in the box structure of an MP4, whose boxes must fill the file. Returns null for
 * a correct structure.
 */
function judgeMp4(bytes: Uint8Array): string | null {
  const buffer = Buffer.from(bytes)
  const boxes: string[] = []
  let at = 0
  while (at + BOX_HEAD_BYTES <= buffer.length) {
    const size = buffer.readUInt32BE(at)
    boxes.push(buffer.toString("latin1", at + 4, at + BOX_HEAD_BYTES))
    if (size < BOX_HEAD_BYTES) break
    at += size
  }
  if (boxes[0] !== "ftyp") return "it is no MP4: its first box is not ftyp"
  const missing = ["moov", "mdat"].filter((box) => !boxes.includes(box))
  if (missing.length > 0) return `it is an MP4 without ${missing.join(" and ")}`
  if (at !== bytes.byteLength) return `its boxes have ${at} bytes, and it has ${bytes.byteLength}`
  return null
}

/** Returns an error in the header of a WAV file. Returns null for a correct header. */
function judgeWav(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes).toString("latin1", 0, HEADER_BYTES)
  const isWav = bytes.byteLength > HEADER_BYTES && /^RIFF.{4}WAVE/s.test(head)
  return isWav ? null : "it is no WAV: it does not begin with RIFF and WAVE"
}
