import { z } from "zod"
import { askJson, download, postJson, untilCompleted, uploadProbed } from "./api.ts"
import type { CheckApi, CheckedFile, Job } from "./api.ts"
import { judgeMp4, judgeWav, makeTone } from "./sample.ts"
import { StepError } from "./step-error.ts"
import { sendWebhook, untilDelivered } from "./webhook.ts"
import type { CheckWebhook } from "./webhook.ts"

/** What a step leaves for those after it. */
export type Made = {
  /** The address that receives the webhook of the check. */
  webhook: CheckWebhook
  /** Media to fetch and to look up; null where the operator names none. */
  checkUrl: string | null
  /** `svc_id://` references. */
  tone?: string
  film?: string
  commandId?: string
}

/** What a step found: the facts in a few words, or why they could not be checked. */
export type Finding = { said: string } | { unchecked: string }

export type Step = {
  name: string
  /** The step without whose result this one cannot be tried. */
  needs?: "upload" | "command"
  run(api: CheckApi, made: Made): Promise<Finding>
}

/** The steps of the check, in their order; each is a job of its own kind. */
export const STEPS: readonly Step[] = [
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
/** Encoders add up to a frame of sound at both ends. */
const SECONDS = { least: 0.9, most: 1.3 }

const facts = z.looseObject({
  format_name: z.string(),
  duration: z.number(),
  width: z.number().optional(),
  height: z.number().optional(),
  streams: z.array(z.looseObject({ codec_name: z.string().optional() })),
})

async function uploadTone(api: CheckApi, made: Made): Promise<Finding> {
  const bytes = makeTone()
  const file = await uploadProbed(api, "tone.wav", bytes)
  expectFacts(file, { format_name: "wav", codecs: ["pcm_s16le"] })
  made.tone = `svc_id://${file.id}`
  return { said: `${bytes.byteLength} bytes were stored and probed as a second of WAV` }
}

const createdCommand = z.object({ command_id: z.string() })

async function runCommand(api: CheckApi, made: Made): Promise<Finding> {
  const picture = `testsrc=size=${SIZE.width}x${SIZE.height}:rate=10:duration=1`
  const order = {
    ffmpeg_command: `ffmpeg -i {{in_1}} -f lavfi -i ${picture} -c:v libx264 -c:a aac {{out_1}}`,
    input_files: { in_1: made.tone },
    output_files: { out_1: "film.mp4" },
  }
  const { command_id: id } = await sendWebhook(made.webhook, (webhook) =>
    postJson(api, "/commands", createdCommand, { ...order, ...webhook }),
  )
  made.commandId = id
  const film = await downloadOutput(api, await untilCompleted(api, id, "media"), judgeMp4)
  // The bytes are probed anew, so that more is known of them than that they came.
  const file = await uploadProbed(api, "film.mp4", Uint8Array.from(film))
  expectFacts(file, { format_name: "mov,mp4", codecs: ["h264", "aac"], ...SIZE })
  made.film = `svc_id://${file.id}`
  return { said: `${film.byteLength} bytes of MP4 came back, with H.264 and AAC` }
}

async function receiveWebhook(api: CheckApi, { webhook, commandId }: Made): Promise<Finding> {
  if (webhook.refusal !== null) return { unchecked: describeRefusal(api, webhook.refusal) }
  return { said: await untilDelivered(api, webhook, commandId ?? "") }
}

/** How the webhook of a service at a private address can be checked. */
function describeRefusal(api: CheckApi, refusal: string): string {
  const { host } = new URL(api.origin)
  return `the service calls no private address (${refusal}); start it with ALLOWED_PRIVATE_HOSTS=${host} for the check`
}

const TARGET_LUFS = -20
const TOLERANCE_LU = 1
const normalized = z.object({
  measurements: z.object({ after: z.object({ integrated_lufs: z.number().nullable() }) }),
})

async function normalizeTone(api: CheckApi, { tone }: Made): Promise<Finding> {
  const created = z.object({ normalization_id: z.string() })
  const order = { file_url: tone, loudnorm_i: TARGET_LUFS }
  const { normalization_id: id } = await postJson(api, "/normalize", created, order)
  const bytes = await downloadOutput(api, await untilCompleted(api, id, "media"), judgeWav)
  const { measurements } = await askJson(api, `/normalize/${id}`, normalized)
  const { integrated_lufs: reached } = measurements.after
  if (reached === null || Math.abs(reached - TARGET_LUFS) > TOLERANCE_LU) {
    throw wrong(`the loudness is ${reached} LUFS, and ${TARGET_LUFS} was asked for`)
  }
  return { said: `${bytes.byteLength} bytes of WAV came back, at ${reached} LUFS` }
}

async function transcodeFilm(api: CheckApi, { film }: Made): Promise<Finding> {
  const created = z.object({ id: z.string() })
  const outputs = [{ codec: "h264", resolution: "480p" }]
  const { id } = await postJson(api, "/transcode", created, { source: film, outputs })
  const ended = await untilCompleted(api, id, "media")
  const bytes = await downloadOutput(api, ended, judgeMp4)
  const [output] = ended.outputs
  if (output?.codec !== "h264") throw wrong(`the rendition has the codec ${output?.codec}`)
  return { said: `${bytes.byteLength} bytes of ${output.resolution ?? "unknown size"} came back` }
}

async function transcribeTone(api: CheckApi, { tone }: Made): Promise<Finding> {
  const created = z.object({ transcribe_id: z.string() })
  const order = { file_url: tone }
  const { transcribe_id: id } = await postJson(api, "/transcribe", created, order)
  const { warnings } = await untilCompleted(api, id, "speech")
  if (!warnings.some(({ code }) => code === "no_speech")) {
    throw wrong("speech was found in a tone, and no_speech was expected")
  }
  return { said: "a tone has no speech (no_speech), as expected" }
}

const NO_URL = "CHECK_URL names no media to fetch"

async function fetchMedia(api: CheckApi, { checkUrl }: Made): Promise<Finding> {
  if (checkUrl === null) return { unchecked: NO_URL }
  const created = z.object({ fetch_id: z.string() })
  const { fetch_id: id } = await postJson(api, "/fetch", created, { url: checkUrl })
  await untilCompleted(api, id, "fetch")
  const record = await askJson(api, `/fetch/${id}`, z.object({ download_url: z.url() }))
  const bytes = await download(api, record.download_url)
  if (bytes.byteLength === 0) throw wrong("what was fetched is empty")
  return { said: `${bytes.byteLength} bytes were fetched from CHECK_URL` }
}

async function lookUpMedia(api: CheckApi, { checkUrl }: Made): Promise<Finding> {
  if (checkUrl === null) return { unchecked: NO_URL }
  const path = `/fetch/metadata?${new URLSearchParams({ url: checkUrl }).toString()}`
  const { title } = await askJson(api, path, z.object({ title: z.string().nullish() }))
  return { said: `CHECK_URL was looked up: ${title ?? "it has no title"}` }
}

/** The bytes of a job's first output, which are as many as its record says, and of the right format. */
async function downloadOutput(
  api: CheckApi,
  { outputs }: Job,
  judge: (bytes: Uint8Array) => string | null,
): Promise<Uint8Array> {
  const [output] = outputs
  if (!output) throw wrong("the job has no output")
  const bytes = await download(api, output.url)
  if (bytes.byteLength !== output.size_bytes) {
    throw wrong(`${bytes.byteLength} bytes came of an output of ${output.size_bytes}`)
  }
  const problem = judge(bytes)
  if (problem !== null) throw wrong(problem)
  return bytes
}

type Expected = { format_name: string; codecs: string[]; width?: number; height?: number }

function expectFacts({ ffprobe }: CheckedFile, expected: Expected): void {
  const { data } = facts.safeParse(ffprobe)
  if (!data) throw wrong("the file has no facts of a probe")
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
  throw wrong(`it was probed as ${JSON.stringify({ format, duration, width, height, codecs })}`)
}

function wrong(sentence: string): StepError {
  return new StepError(sentence, { code: WRONG_OUTPUT })
}

/** The code of media that came back and are not right. */
export const WRONG_OUTPUT = "wrong_output"
