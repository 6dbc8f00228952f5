import { readFile } from "node:fs/promises"
import { z } from "zod"
import { makeTempFolder } from "../../scripts/cli/temp-folder.ts"
import { newId } from "../../src/platform/ids.ts"
import { SHORT_SPEECH_TEXT, generateSpeech } from "../support/media/speech.ts"
import { readJson } from "./bed.ts"
import type { Bed } from "./bed.ts"
import { submitOrders } from "./submitted-jobs.ts"
import type { AcceptedJob, SubmittedJobs } from "./submitted-jobs.ts"

export const SOUND_TARGETS = ["normalize", "transcribe"] as const
export type SoundTarget = (typeof SOUND_TARGETS)[number]

const WORD = "weather"
const VIDEO = ["h264", "aac"]

type SoundOrder = {
  room: SoundTarget
  /** Makes the request, once for each time it is sent. */
  makeBody: (webhook: string) => Pick<RequestInit, "body" | "headers">
  ends: Partial<AcceptedJob>
}

const created = z.union([
  z.looseObject({ normalization_id: z.string() }).transform((body) => body.normalization_id),
  z.looseObject({ transcribe_id: z.string() }).transform((body) => body.transcribe_id),
])

/**
 * Submits jobs of every kind that is about sound; `onTarget` is told of the named one, the first.
 */
export function submitSound(name: SoundTarget) {
  return async (bed: Bed, onTarget: (id: string) => void): Promise<SubmittedJobs> => {
    const orders = await makeOrders(bed)
    return await submitOrders(name, orders, {
      submit: async (each, order: SoundOrder) => await submit(bed, each, order),
      onTarget,
    })
  }
}

type SoundOrders = Record<string, SoundOrder> & Record<SoundTarget, SoundOrder>

async function makeOrders(bed: Bed): Promise<SoundOrders> {
  const speech = await (spoken ??= makeSpeech())
  const stored = await storedSpeech(bed, speech)
  const video = { outputs: { file: VIDEO } }
  const canceled = { errorCode: "canceled" }
  return {
    normalize: json("normalize", { file_url: `svc_id://${bed.mediaFileId}` }, video),
    transcribe: json("transcribe", { file_url: `svc_id://${stored}` }, { says: WORD }),
    "normalize upload": form("normalize", bed.media, "clip.mp4", video),
    "transcribe upload": form("transcribe", speech, "speech.wav", { says: WORD }),
    "canceled normalize": json("normalize", { file_url: endlessSound(bed) }, canceled),
    "canceled transcribe": json("transcribe", { source: endlessSound(bed) }, canceled),
  }
}

let spoken: Promise<Blob> | undefined

async function makeSpeech(): Promise<Blob> {
  await using folder = await makeTempFolder("speech")
  return new Blob([await readFile(await generateSpeech(folder.path, { text: SHORT_SPEECH_TEXT }))])
}

const storedIds = new WeakMap<Bed, Promise<string>>()

/** A file of the account with speech, which is sent once. */
async function storedSpeech(bed: Bed, speech: Blob): Promise<string> {
  const known = storedIds.get(bed)
  if (known) return await known
  const sent = readJson(
    z.looseObject({ id: z.string(), status: z.literal("success") }),
    bed.call("POST", "/files", () => {
      const body = new FormData()
      body.set("file", speech, "speech.wav")
      return { body, headers: { prefer: "wait=30" } }
    }),
  ).then(({ id }) => id)
  storedIds.set(bed, sent)
  return await sent
}

/** Sound that comes so slowly that a job of it only ends by being canceled. */
function endlessSound(bed: Bed): string {
  return bed.source.url(`/sound/never-${newId()}.wav?size=1000000&seed=5&rate=2000`)
}

function json(room: SoundTarget, fields: object, ends: SoundOrder["ends"]): SoundOrder {
  function makeBody(webhook: string) {
    const headers = { "content-type": "application/json" }
    return { body: JSON.stringify({ ...fields, webhook }), headers }
  }
  return { room, makeBody, ends }
}

function form(room: SoundTarget, file: Blob, name: string, ends: SoundOrder["ends"]): SoundOrder {
  function makeBody(webhook: string) {
    const body = new FormData()
    body.set("webhook", webhook)
    body.set("file", file, name)
    return { body }
  }
  return { room, makeBody, ends }
}

async function submit(
  bed: Bed,
  name: string,
  { room, makeBody, ends }: SoundOrder,
): Promise<AcceptedJob> {
  // Sent again, it is the same job.
  const key = { "idempotency-key": newId() }
  const asked = bed.call("POST", `/${room}`, () => {
    const { headers, ...init } = makeBody(bed.receiver.url)
    return { ...init, headers: { ...Object.fromEntries(new Headers(headers)), ...key } }
  })
  const id = await readJson(created, asked)
  return { id, room, name, errorCode: null, outputs: {}, ...ends }
}
