import { PAUSE_MS_MIN, boundaryAfter, isShortWord, pauseAfter } from "./boundaries.ts"
import type { Boundary } from "./boundaries.ts"
import { columnsAfter } from "./units.ts"
import type { Unit } from "./units.ts"

/** What a cue may hold: two lines of so many columns, so many units, and so much time. */
export type CueBounds = { columnsMax: number; unitsMax: number; msMax: number; msMin: number }

/** What a break costs, by where it is. */
const BREAK_COSTS: Record<Boundary, number> = { sentence: 0, pause: 10, clause: 20, word: 60 }
/** What it costs to go on in the same cue, by what is passed over. */
const PASSING_COSTS: Record<Boundary, number> = { sentence: 15, pause: 0, clause: 0, word: 0 }
/** What it costs to end within a sentence in a short word, as an article, which belongs to the next. */
const SHORT_WORD_COST = 10
const PAUSE_COST = 25
const PAUSE_SECOND_COST = 20
/** What a cue costs that cannot stay long enough, and one that holds a scrap of a sentence. */
const SHORT_COST = 40
const SCRAP_COST = 40
const SCRAP_COLUMNS_MAX = 7
/** What a full cue costs; by the square of its fill, so that cues of equal lengths cost least. */
const FILL_COST = 20

/** Units with what is after each. */
type Said = { units: readonly Unit[]; boundaries: readonly Boundary[] }

/**
 * Groups units into cues so that the sum of what all breaks and cues cost is the least: sentences
 * end cues, then pauses do, then clauses, and cues are neither scraps nor unequal.
 */
export function groupUnits(units: readonly Unit[], bounds: CueBounds): Unit[][] {
  const said = { units, boundaries: units.map((unit, at) => boundaryAfter(unit, units[at + 1])) }
  const costs = [0, ...units.map(() => Infinity)]
  const starts: number[] = []
  for (const from of units.keys()) {
    for (const { to, cost } of cuesFrom(said, from, bounds)) {
      const sum = (costs[from] ?? Infinity) + cost
      if (sum >= (costs[to] ?? Infinity)) continue
      costs[to] = sum
      starts[to] = from
    }
  }
  const groups: Unit[][] = []
  for (let to = units.length; to > 0; to = starts[to] ?? 0) {
    groups.push(units.slice(starts[to] ?? 0, to))
  }
  return groups.toReversed()
}

/** The cues that may begin at a unit, the shortest first; one of a single unit always may. */
function* cuesFrom({ units, boundaries }: Said, from: number, bounds: CueBounds) {
  const startMs = units[from]?.startMs ?? 0
  const { add } = openLines(bounds.columnsMax)
  let columns = 0
  let passing = 0
  for (let to = from + 1; to <= units.length; to += 1) {
    const last = units[to - 1]
    const boundary = boundaries[to - 1]
    if (!last || boundary === undefined) return
    const isWithin = to - from <= bounds.unitsMax && last.endMs - startMs <= bounds.msMax
    const fits = add(last)
    if (to - from > 1 && !(isWithin && fits)) return
    columns += columnsAfter(last, to - 1 - from)
    const next = units[to]
    const roomMs = (next?.startMs ?? Infinity) - startMs
    const isScrap = to - from === 1 || columns <= SCRAP_COLUMNS_MAX
    const isSentence = boundary === "sentence" && (boundaries[from - 1] ?? boundary) === boundary
    const cost =
      breakCost(last, boundary) +
      passing +
      FILL_COST * (columns / (2 * bounds.columnsMax)) ** 2 +
      (roomMs < bounds.msMin ? SHORT_COST : 0) +
      (isScrap && !isSentence ? SCRAP_COST : 0)
    yield { to, cost }
    if (next) passing += PASSING_COSTS[boundary] + passingPause(pauseAfter(last, next))
  }
}

function breakCost(last: Unit, boundary: Boundary): number {
  const isShort = boundary === "word" && isShortWord(last)
  return BREAK_COSTS[boundary] + (isShort ? SHORT_WORD_COST : 0)
}

function passingPause(ms: number): number {
  if (ms < PAUSE_MS_MIN) return 0
  return PAUSE_COST + (PAUSE_SECOND_COST * (ms - PAUSE_MS_MIN)) / 1000
}

/** Two lines to which units are added; `add` says whether they still fit. */
function openLines(columnsMax: number) {
  let line = 1
  let columns = 0
  function add(unit: Unit): boolean {
    columns += columnsAfter(unit, columns)
    if (columns <= columnsMax) return true
    line += 1
    columns = unit.columns
    return line <= 2
  }
  return { add }
}
