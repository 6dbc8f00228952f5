import type { TranscriptSegment } from "../../../container/captions/transcript-segment.ts"

/**
 * Creates a segment as whisper returns it. Each word takes `wordSeconds`; `(1.5)` is a pause of 1.5
 * seconds.
 */
export function spoken(text: string, start = 0, wordSeconds = 0.3): TranscriptSegment {
  const words: TranscriptSegment["words"] = []
  let seconds = start
  for (const part of text.split(" ")) {
    const pause = /^\(([\d.]+)\)$/.exec(part)?.[1]
    if (pause === undefined) {
      const end = seconds + wordSeconds
      words.push({ start: seconds, end, word: ` ${part}`, confidence: 0.9 })
    }
    seconds += pause === undefined ? wordSeconds : Number(pause)
  }
  return segmentOf(words)
}

/** Creates a segment from words. */
export function segmentOf(words: TranscriptSegment["words"]): TranscriptSegment {
  const text = words.map(({ word }) => word).join("")
  const [start, end] = [words[0]?.start ?? 0, words.at(-1)?.end ?? 0]
  return { start, end, text, confidence: 0.9, words }
}

/** Creates a segment in a script without blanks. Each character takes `characterSeconds`. */
export function spokenUnspaced(text: string, start = 0, characterSeconds = 0.2): TranscriptSegment {
  return segmentOf(
    Array.from(text, (word, index) => ({
      start: start + index * characterSeconds,
      end: start + (index + 1) * characterSeconds,
      word,
      confidence: 0.9,
    })),
  )
}
