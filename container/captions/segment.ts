/** A word as whisper says it, with the blank before it; its times are seconds of the whole sound. */
type Word = {
  start: number
  end: number
  word: string
  /** From 0 to 1. */
  confidence: number
}

/** A sentence, or a part of one that pauses surround; its confidence is the mean of its words'. */
export type Segment = {
  start: number
  end: number
  text: string
  confidence: number
  words: Word[]
}
