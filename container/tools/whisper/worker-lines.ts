import { z } from "zod"
import { parseJson } from "../../parse-json.ts"

const time = z.number().nonnegative()

const ready = z.object({ kind: z.literal("ready") })

const words = z.object({
  kind: z.literal("words"),
  /**
   * Recognized words: the start and end in seconds from the start of the audio, the text with a
   * leading blank, and the confidence from 0 to 1.
   */
  words: z.array(z.tuple([time, time, z.string(), z.number().min(0).max(1)])),
})

const progress = z.object({ kind: z.literal("progress"), fraction: z.number().min(0).max(1) })

const done = z.object({
  kind: z.literal("done"),
  language: z.string().nullable(),
  probability: z.number().min(0).max(1).nullable(),
})

const error = z.object({
  kind: z.literal("error"),
  isOutOfMemory: z.boolean(),
  message: z.string(),
})

const line = z.discriminatedUnion("kind", [ready, words, progress, done, error])

export type SpeechWorkerLine = z.infer<typeof line>
export type SpeechWorkerErrorLine = z.infer<typeof error>
export type RecognizedWord = z.infer<typeof words>["words"][number]

/** Parses a JSON line that the Python driver has written. Returns null for an invalid line. */
export function parseSpeechWorkerLine(text: string): SpeechWorkerLine | null {
  return line.safeParse(parseJson(text)).data ?? null
}
