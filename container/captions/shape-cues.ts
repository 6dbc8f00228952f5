import type { Segment } from "./segment.ts"
import { groupUnits } from "./group-units.ts"
import { breakLines } from "./lines.ts"
import { columnsOf, readUnits } from "./units.ts"
import type { Unit } from "./units.ts"

/** One or two lines that are shown together, from `startMs` to `endMs`. */
export type Cue = { startMs: number; endMs: number; lines: string[] }

export type CueShape = {
  /** The most words of a cue. */
  wordsPerCue?: number | undefined
  /** The most columns of a line, of which wide characters take two. */
  maxLineLength?: number | undefined
  /** Where the sound ends, behind which no cue stays. */
  soundMs?: number | undefined
}

const LINE_LENGTH_MAX = 42
const CUE_MS_MAX = 7000
const CUE_MS_MIN = 1000
/** How fast viewers read, in columns. */
const COLUMNS_PER_SECOND = 17
/**
 * What is between a cue and the next one, but at most a tenth of the time between their beginnings;
 * pauses that leave little more are closed up to it.
 */
const GAP_MS = 80
const GAP_SHARE_MAX = 0.1
const FLICKER_MS = 500

/** Shapes cues that a viewer can read of what was said and when; they do not overlap. */
export function shapeCues(segments: readonly Segment[], shape: CueShape = {}): Cue[] {
  const columnsMax = shape.maxLineLength ?? LINE_LENGTH_MAX
  const units = readUnits(segments, columnsMax)
  const groups = groupUnits(units, {
    columnsMax,
    unitsMax: shape.wordsPerCue ?? Infinity,
    msMax: CUE_MS_MAX,
    msMin: CUE_MS_MIN,
  })
  const starts = startsOf(groups)
  return groups.map((group, index) => {
    const startMs = starts[index] ?? 0
    const next = starts[index + 1]
    const untilMs = next === undefined ? (shape.soundMs ?? Infinity) : next - gapOf(next - startMs)
    const endMs = endOf(group, startMs, Math.max(startMs + 1, untilMs))
    return { startMs, endMs, lines: breakLines(group, columnsMax) }
  })
}

/** When cues begin: with their first words, each after the one before it. */
function startsOf(groups: readonly (readonly Unit[])[]): number[] {
  const starts: number[] = []
  for (const [first] of groups) {
    starts.push(Math.max(first?.startMs ?? 0, (starts.at(-1) ?? -1) + 1))
  }
  return starts
}

function gapOf(roomMs: number): number {
  return Math.min(GAP_MS, Math.floor(roomMs * GAP_SHARE_MAX))
}

/** When a cue ends: after its last word, and once it could be read, where `untilMs` leaves room. */
function endOf(group: readonly Unit[], startMs: number, untilMs: number): number {
  const readMs = Math.max(CUE_MS_MIN, Math.ceil((columnsOf(group) / COLUMNS_PER_SECOND) * 1000))
  const wantedMs = Math.max(group.at(-1)?.endMs ?? 0, startMs + readMs)
  const isNearNext = untilMs - wantedMs < FLICKER_MS
  return Math.min(isNearNext ? untilMs : wantedMs, untilMs, startMs + CUE_MS_MAX)
}
