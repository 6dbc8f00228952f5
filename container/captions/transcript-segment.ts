/**
 * Word as Whisper returns it, with a leading blank. Times are seconds from the start of the audio.
 */
type Word = {
  start: number
  end: number
  word: string
  /** Probability of the recognized word, from 0 to 1. */
  confidence: number
}

/**
 * Sentence of a transcript, or a part of a sentence between pauses. `confidence` is the mean over
 * the words.
 */
export type TranscriptSegment = {
  start: number
  end: number
  text: string
  confidence: number
  words: Word[]
}
