import type { Segment } from "../../captions/segment.ts"
import type { SpokenWord } from "./worker-lines.ts"

/** What ends a sentence, and what may stand behind it. */
const SENTENCE_END = /[.!?。！？…][\p{Pe}\p{Pf}"'”’]*$/u

/** A pause of this length ends a segment, as does so much speech without any end. */
const PAUSE_SECONDS_MIN = 1
const SEGMENT_SECONDS_MAX = 30

/** Segments of words that follow each other: sentences, and what pauses surround. */
export function toSegments(words: readonly SpokenWord[]): Segment[] {
  const groups: SpokenWord[][] = []
  for (const word of words) {
    const group = groups.at(-1)
    if (group && !endsBefore(group, word)) group.push(word)
    else groups.push([word])
  }
  return groups.flatMap(toSegment)
}

function endsBefore(group: readonly SpokenWord[], [start, end]: SpokenWord): boolean {
  const [first] = group
  const last = group.at(-1)
  if (!first || !last) return false
  const isPause = start - last[1] >= PAUSE_SECONDS_MIN
  return isPause || SENTENCE_END.test(last[2].trimEnd()) || end - first[0] > SEGMENT_SECONDS_MAX
}

function toSegment(group: readonly SpokenWord[]): Segment[] {
  const words = group.map(([start, end, word, confidence]) => ({ start, end, word, confidence }))
  const text = words
    .map(({ word }) => word)
    .join("")
    .trim()
  const [first] = words
  const last = words.at(-1)
  if (!first || !last || text === "") return []
  const sum = words.reduce((total, { confidence }) => total + confidence, 0)
  return [{ start: first.start, end: last.end, text, confidence: sum / words.length, words }]
}
