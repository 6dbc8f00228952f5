import stringWidth from "string-width"
import { expect, test } from "vitest"
import { toSubtitleCues } from "../../../container/captions/shape-cues.ts"
import type { SubtitleCue, SubtitleCueOptions } from "../../../container/captions/shape-cues.ts"
import { formatTranscriptInOneLine } from "../../../container/captions/format-transcript.ts"
import type { TranscriptSegment } from "../../../container/captions/transcript-segment.ts"
import { openRandom } from "../../corpus/mutations.ts"
import { segmentOf } from "./spoken.ts"

const STREAMS = 300
const PARTS = [
  ..." a, the house. is? beautiful! of and lighthouse; Mr. 1999 é ü… ok 5 --> <b> & »".split(" "),
  ..." 今天 天气 。 ー を コーヒー สวัสดี ครับ مرحبا، שלום ".split(" "),
  "👩‍👩‍👧‍👦",
  "👍🏽",
  "e\u0301\u0323",
  "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen",
  "a\nb",
  "\u0007",
  "\ud800",
  " ",
]

test("cues of random words keep all words in order, within all limits", () => {
  for (let seed = 1; seed <= STREAMS; seed += 1) {
    const random = openRandom(seed)
    const shape = {
      ...(random() < 0.5 && { wordsPerCue: 1 + Math.floor(random() * 12) }),
      ...(random() < 0.5 && { maxLineLength: 10 + Math.floor(random() * 60) }),
    }
    const segments = streamOf(random)
    const cues = toSubtitleCues(segments, shape)
    requireOrder(cues, seed)
    requireShape(cues, shape, seed)
    const shown = cues.flatMap(({ lines }) => lines).join("")
    expect(shown.replaceAll(" ", ""), `seed ${seed}`).toBe(
      formatTranscriptInOneLine(segments).replaceAll(" ", ""),
    )
  }
})

function requireOrder(cues: readonly SubtitleCue[], seed: number): void {
  for (const [index, { startMs, endMs }] of cues.entries()) {
    expect(Number.isInteger(startMs) && Number.isInteger(endMs), `seed ${seed}`).toBe(true)
    expect(endMs, `seed ${seed}`).toBeGreaterThan(startMs)
    expect(endMs - startMs, `seed ${seed}`).toBeLessThanOrEqual(7000)
    const next = cues[index + 1]
    if (!next) continue
    expect(next.startMs, `seed ${seed}`).toBeGreaterThanOrEqual(endMs)
    const roomMs = next.startMs - startMs
    expect(endMs - startMs, `seed ${seed}`).toBeGreaterThanOrEqual(Math.min(1000, roomMs - 80))
  }
}

function requireShape(cues: readonly SubtitleCue[], shape: SubtitleCueOptions, seed: number): void {
  const { maxLineLength = 42, wordsPerCue = Infinity } = shape
  for (const { lines } of cues) {
    expect([1, 2], `seed ${seed}`).toContain(lines.length)
    for (const line of lines) {
      expect(line, `seed ${seed}`).toMatch(/^[^\s\p{Cc}](?:[^\n\p{Cc}]*[^\s\p{Cc}])?$/u)
      expect(line.isWellFormed(), `seed ${seed}`).toBe(true)
      expect(line, `seed ${seed}`).not.toMatch(/^\p{M}/u)
      expect(stringWidth(line), `seed ${seed}: ${line}`).toBeLessThanOrEqual(maxLineLength)
    }
    const spaced = lines
      .join(" ")
      .split(" ")
      .filter((word) => /[\p{L}\p{N}]/u.test(word))
    expect(spaced.length, `seed ${seed}`).toBeLessThanOrEqual(wordsPerCue)
  }
}

/** Generates segments of random words. Their times may be equal, overlap or jump. */
function streamOf(random: () => number): TranscriptSegment[] {
  let seconds = random() * 10
  return Array.from({ length: 1 + Math.floor(random() * 12) }, () => {
    const words = Array.from({ length: Math.floor(random() * 25) }, () => {
      const start = Math.max(0, seconds - (random() < 0.1 ? 0.05 : 0))
      const length = random() < 0.1 ? 0 : random() * (random() < 0.02 ? 12 : 0.8)
      seconds += length + (random() < 0.15 ? random() * 3 : 0)
      const word = (random() < 0.8 ? " " : "") + PARTS[Math.floor(random() * PARTS.length)]
      return { start, end: start + length, word, confidence: random() }
    })
    const segment = segmentOf(words)
    return random() < 0.1 ? { ...segment, words: [] } : segment
  })
}
