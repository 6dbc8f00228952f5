import { z } from "zod"

/** A word as whisper says it, with the blank before it; its times are seconds of the whole sound. */
const word = z.object({
  start: z.number().nonnegative(),
  end: z.number().nonnegative(),
  word: z.string(),
  /** From 0 to 1. */
  confidence: z.number().min(0).max(1),
})

/** A sentence, or a part of one that pauses surround, with its words; its confidence is their mean. */
export const segment = z.object({
  start: z.number().nonnegative(),
  end: z.number().nonnegative(),
  text: z.string(),
  confidence: z.number().min(0).max(1),
  words: z.array(word),
})

export type Segment = z.infer<typeof segment>
export type Word = z.infer<typeof word>
