import { z } from "zod"

const time = z.number().nonnegative()

const ready = z.object({ kind: z.literal("ready") })

const words = z.object({
  kind: z.literal("words"),
  /** Start and end in seconds of the sound, the word with the blank before it, and its confidence. */
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

export type WorkerLine = z.infer<typeof line>
export type WorkerError = z.infer<typeof error>
export type SpokenWord = z.infer<typeof words>["words"][number]

/** A line of the driver; null where it is none. */
export function readWorkerLine(text: string): WorkerLine | null {
  try {
    return line.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
