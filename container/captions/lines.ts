import { boundaryAfter, isShortWord } from "./boundaries.ts"
import type { Boundary } from "./boundaries.ts"
import { columnsOf, joinUnits } from "./units.ts"
import type { Unit } from "./units.ts"

/** What breaking a line costs, in columns by which its lines may differ instead. */
const BREAK_COSTS: Record<Boundary, number> = { sentence: 0, pause: 8, clause: 8, word: 16 }
const SHORT_WORD_COST = 4

/** Breaks the text of a cue into one line where it fits, else into two that are about equal. */
export function breakLines(units: readonly Unit[], columnsMax: number): string[] {
  if (columnsOf(units) <= columnsMax || units.length === 1) return [joinUnits(units)]
  const costs = units.slice(1).map((_, index) => breakCost(units, index + 1, columnsMax))
  const at = costs.indexOf(Math.min(...costs)) + 1
  return [joinUnits(units.slice(0, at)), joinUnits(units.slice(at))]
}

function breakCost(units: readonly Unit[], at: number, columnsMax: number): number {
  const last = units[at - 1]
  if (!last) return Infinity
  const [upper, lower] = [columnsOf(units.slice(0, at)), columnsOf(units.slice(at))]
  if (Math.max(upper, lower) > columnsMax) return Infinity
  const shortWord = isShortWord(last) ? SHORT_WORD_COST : 0
  // Of two breaks that are as good, the one with the longer line below covers less of the picture.
  const isTopHeavy = upper > lower ? 1 : 0
  return (
    Math.abs(upper - lower) + BREAK_COSTS[boundaryAfter(last, units[at])] + shortWord + isTopHeavy
  )
}
