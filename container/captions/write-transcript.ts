import type { Segment } from "./segment.ts"
import { boundaryAfter, pauseAfter, PAUSE_MS_MIN } from "./boundaries.ts"
import { joinUnits, readUnits } from "./units.ts"
import type { Unit } from "./units.ts"

/** All that was said, in one line. */
export function plainText(segments: readonly Segment[]): string {
  return joinUnits(readUnits(segments, Infinity))
}

/** Writes what was said as a text with a line for each sentence, or for what pauses surround. */
export function writeText(segments: readonly Segment[]): string {
  const lines: Unit[][] = []
  let line: Unit[] = []
  const units = readUnits(segments, Infinity)
  for (const [index, unit] of units.entries()) {
    line.push(unit)
    if (!endsLine(unit, units[index + 1])) continue
    lines.push(line)
    line = []
  }
  return lines.map((each) => `${joinUnits(each)}\n`).join("")
}

function endsLine(unit: Unit, next: Unit | undefined): boolean {
  if (!next || boundaryAfter(unit, next) === "sentence") return true
  return unit.endsSegment && pauseAfter(unit, next) >= PAUSE_MS_MIN
}

/** Writes what was said as JSON: segments and their words with times in seconds and confidence. */
export function writeJson(transcript: {
  language: string | null
  durationSeconds: number
  segments: readonly Segment[]
}): string {
  const { language, durationSeconds, segments } = transcript
  const value = {
    language,
    duration_seconds: round(durationSeconds),
    text: plainText(segments),
    segments: segments.map(({ start, end, text, confidence, words }, index) => ({
      id: index,
      start: round(start),
      end: round(end),
      text: text.trim(),
      confidence: round(confidence),
      words: words.map(({ start: from, end: to, word, confidence: certainty }) => ({
        start: round(from),
        end: round(to),
        word: word.trim(),
        confidence: round(certainty),
      })),
    })),
  }
  return `${JSON.stringify(value)}\n`
}

/** Rounds to thousandths. */
function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
