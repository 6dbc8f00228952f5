/**
 * Word that Whisper has recognized. The text begins with a blank. Times are seconds from the start
 * of the audio.
 */
type Word = {
  start: number
  end: number
  word: string
  /** Probability that the word was recognized correctly, from 0 to 1. */
  confidence: number
}

/**
 * Sentence of a transcript, or a part of a sentence between pauses. `confidence` is the mean
 * confidence of the words, from 0 to 1.
 */
export type TranscriptSegment = {
  start: number
  end: number
  text: string
  confidence: number
  words: Word[]
}
