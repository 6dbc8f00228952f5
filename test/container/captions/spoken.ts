import type { Segment } from "../../../container/captions/segment.ts"

/**
 * A segment as whisper says it: each word of the text takes `wordSeconds`, and `(1.5)` among them is
 * a pause of so many seconds.
 */
export function spoken(text: string, start = 0, wordSeconds = 0.3): Segment {
  const words: Segment["words"] = []
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

/** A segment of words; its text is theirs. */
export function segmentOf(words: Segment["words"]): Segment {
  const text = words.map(({ word }) => word).join("")
  const [start, end] = [words[0]?.start ?? 0, words.at(-1)?.end ?? 0]
  return { start, end, text, confidence: 0.9, words }
}

/** A segment in a script without blanks: each character takes `characterSeconds`. */
export function spokenUnspaced(text: string, start = 0, characterSeconds = 0.2): Segment {
  return segmentOf(
    Array.from(text, (word, index) => ({
      start: start + index * characterSeconds,
      end: start + (index + 1) * characterSeconds,
      word,
      confidence: 0.9,
    })),
  )
}
