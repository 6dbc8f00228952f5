import stringWidth from "string-width"
import type { Segment } from "./segment.ts"
import { joinsUnspaced, splitText } from "./split-text.ts"
import { readTokens } from "./tokens.ts"
import type { Token } from "./tokens.ts"

/** What no line is broken within, as a rule a word with its punctuation, in whole milliseconds. */
export type Unit = {
  text: string
  /** Whether a blank is between it and the unit before it, where one is. */
  isSpaced: boolean
  /** Its visible width; wide characters, as those of Chinese, count two. */
  columns: number
  startMs: number
  endMs: number
  /** Whether it is the last of its segment. */
  endsSegment: boolean
}

/** Splits what was said into units of at most so many columns; none begins before the one before it. */
export function readUnits(segments: readonly Segment[], columnsMax: number): Unit[] {
  const units: Unit[] = []
  let fromMs = 0
  for (const segment of segments) {
    const { text, tokens, isSpaced } = readTokens(segment, fromMs)
    const pieces = splitText(text, columnsMax)
    for (const [index, { from, to }] of pieces.entries()) {
      const piece = text.slice(from, to)
      const last = units.at(-1)?.text ?? ""
      units.push({
        text: piece,
        isSpaced: index === 0 ? isSpaced || !joinsUnspaced(last, piece) : text[from - 1] === " ",
        columns: stringWidth(piece),
        ...timesOf(tokens, from, to),
        endsSegment: index === pieces.length - 1,
      })
    }
    fromMs = tokens.at(-1)?.startMs ?? fromMs
  }
  return units
}

/** The text of units, with the blanks between them. */
export function joinUnits(units: readonly Unit[]): string {
  return units
    .map(({ text, isSpaced }, index) => (index > 0 && isSpaced ? " " : "") + text)
    .join("")
}

/** The visible width of units in one line. */
export function columnsOf(units: readonly Unit[]): number {
  return units.reduce((sum, unit, index) => sum + columnsAfter(unit, index), 0)
}

/** The width that a unit adds to a line in which it is the one at `index`. */
export function columnsAfter({ columns, isSpaced }: Unit, index: number): number {
  return columns + (index > 0 && isSpaced ? 1 : 0)
}

/** The times of a part of a text; within a token, time goes evenly over its characters. */
function timesOf(tokens: readonly Token[], from: number, to: number) {
  const first = tokens.find((token) => token.to > from)
  const last = tokens.findLast((token) => token.from < to)
  return {
    startMs: first ? timeAt(first, from) : 0,
    endMs: last ? timeAt(last, to) : 0,
  }
}

function timeAt({ from, to, startMs, endMs }: Token, at: number): number {
  const fraction = (Math.min(Math.max(at, from), to) - from) / (to - from)
  return Math.round(startMs + (endMs - startMs) * fraction)
}
