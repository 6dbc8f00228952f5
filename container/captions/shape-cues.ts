import type { TranscriptSegment } from "./transcript-segment.ts"
import {
  countColumnsAddedToLine,
  countLineColumns,
  joinCaptionWords,
  splitIntoCaptionWords,
} from "./caption-words.ts"
import type { CaptionWord } from "./caption-words.ts"
import {
  classifyGapAfterWord,
  isShortWord,
  NOTICEABLE_PAUSE_MS,
  computePauseMs,
} from "./word-boundaries.ts"
import type { WordGapKind } from "./word-boundaries.ts"

/** Subtitle of one or two lines, which a player shows from `startMs` to `endMs` of the audio. */
export type SubtitleCue = { startMs: number; endMs: number; lines: string[] }

export type SubtitleCueOptions = {
  /** Maximum number of words in a subtitle cue. */
  wordsPerCue?: number | undefined
  /**
   * Maximum number of columns in a line of a subtitle cue. A wide character, such as a Chinese
   * character, takes two columns.
   */
  maxLineLength?: number | undefined
  /** Duration of the audio, in milliseconds. No cue lasts longer than the audio. */
  soundMs?: number | undefined
}

const LINE_LENGTH_MAX = 42
const CUE_MS_MAX = 7000
const CUE_MS_MIN = 1000
/** Reading speed of viewers, in columns of text per second. */
const COLUMNS_PER_SECOND = 17
/**
 * Gap between two consecutive subtitle cues: `GAP_MS` milliseconds, but at most the share
 * `GAP_SHARE_MAX` of the time between the starts of the cues. A cue that would end less than
 * `FLICKER_MS` before the gap is extended to the gap, since a short pause without text flickers.
 */
const GAP_MS = 80
const GAP_SHARE_MAX = 0.1
const FLICKER_MS = 500

/**
 * Converts the segments of a transcript to subtitle cues that are shown long enough to be read.
 * Cues never overlap.
 */
export function toSubtitleCues(
  segments: readonly TranscriptSegment[],
  shape: SubtitleCueOptions = {},
): SubtitleCue[] {
  const columnsMax = shape.maxLineLength ?? LINE_LENGTH_MAX
  const words = splitIntoCaptionWords(segments, columnsMax)
  const groups = groupWords(words, {
    columnsMax,
    wordsMax: shape.wordsPerCue ?? Infinity,
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

/**
 * Returns the start time of each subtitle cue: the start of its first word, but always later than
 * the start of the previous cue.
 */
function startsOf(groups: readonly (readonly CaptionWord[])[]): number[] {
  const starts: number[] = []
  for (const [first] of groups) {
    starts.push(Math.max(first?.startMs ?? 0, (starts.at(-1) ?? -1) + 1))
  }
  return starts
}

function gapOf(roomMs: number): number {
  return Math.min(GAP_MS, Math.floor(roomMs * GAP_SHARE_MAX))
}

/**
 * Returns the end time of a subtitle cue. The cue lasts until its last word has ended and viewers
 * have had time to read the cue, but at most `CUE_MS_MAX`, and never beyond `untilMs`: the gap
 * before the next cue, or the end of the audio.
 */
function endOf(group: readonly CaptionWord[], startMs: number, untilMs: number): number {
  const readSeconds = countLineColumns(group) / COLUMNS_PER_SECOND
  const readMs = Math.max(CUE_MS_MIN, Math.ceil(readSeconds * 1000))
  const wantedMs = Math.max(group.at(-1)?.endMs ?? 0, startMs + readMs)
  const isNearNext = untilMs - wantedMs < FLICKER_MS
  return Math.min(isNearNext ? untilMs : wantedMs, untilMs, startMs + CUE_MS_MAX)
}

/**
 * Cost of the line break in a cue of two lines, by the kind of gap between words at the break. A
 * cost of 1 equals a difference of one column between the widths of the two lines.
 */
const BREAK_COSTS: Record<WordGapKind, number> = { sentence: 0, pause: 8, clause: 8, word: 16 }
const SHORT_WORD_COST = 4

/**
 * Breaks the text of a subtitle cue into lines: one line if the text fits, else two lines of
 * similar length.
 */
function breakLines(words: readonly CaptionWord[], columnsMax: number): string[] {
  if (countLineColumns(words) <= columnsMax || words.length === 1) return [joinCaptionWords(words)]
  const costs = words.slice(1).map((_, index) => breakCost(words, index + 1, columnsMax))
  const at = costs.indexOf(Math.min(...costs)) + 1
  return [joinCaptionWords(words.slice(0, at)), joinCaptionWords(words.slice(at))]
}

function breakCost(words: readonly CaptionWord[], at: number, columnsMax: number): number {
  const last = words[at - 1]
  if (!last) return Infinity
  const [upper, lower] = [countLineColumns(words.slice(0, at)), countLineColumns(words.slice(at))]
  if (Math.max(upper, lower) > columnsMax) return Infinity
  const shortWord = isShortWord(last) ? SHORT_WORD_COST : 0
  // Between two breaks with equal cost, prefers the break with the longer lower line, because a cue
  // with a short upper line covers less of the picture.
  const isTopHeavy = upper > lower ? 1 : 0
  return (
    Math.abs(upper - lower) +
    BREAK_COSTS[classifyGapAfterWord(last, words[at])] +
    shortWord +
    isTopHeavy
  )
}

/**
 * Limits of a subtitle cue: the number of columns in a line, the number of words, and the duration.
 */
type CueBounds = { columnsMax: number; wordsMax: number; msMax: number; msMin: number }

/** Cost of ending a subtitle cue, by the kind of gap between words at its end. */
const CUE_BREAK_COSTS: Record<WordGapKind, number> = {
  sentence: 0,
  pause: 10,
  clause: 20,
  word: 60,
}
/**
 * Cost of a gap between words within a subtitle cue, by the kind of the gap. Pauses cost 0 here,
 * since `PAUSE_COST` and `PAUSE_SECOND_COST` count every pause by its length.
 */
const PASSING_COSTS: Record<WordGapKind, number> = { sentence: 15, pause: 0, clause: 0, word: 0 }
/**
 * Extra cost of a subtitle cue that ends within a sentence and with a short word, such as an
 * article.
 */
const CUE_SHORT_WORD_COST = 10
const PAUSE_COST = 25
const PAUSE_SECOND_COST = 20
/**
 * Costs of a subtitle cue that is shown too briefly (`SHORT_COST`), and of a cue that is only a
 * scrap of a sentence (`SCRAP_COST`): one word, or text of at most `SCRAP_COLUMNS_MAX` columns.
 */
const SHORT_COST = 40
const SCRAP_COST = 40
const SCRAP_COLUMNS_MAX = 7
/**
 * Cost of the text length of a subtitle cue, for two full lines. The cost grows with the square of
 * the text length, so that cues of equal length are cheaper in total than long and short cues.
 */
const FILL_COST = 20

/** Caption words of a transcript, and the kind of gap after each word. */
type WordSequence = { words: readonly CaptionWord[]; boundaries: readonly WordGapKind[] }

/**
 * Groups caption words into cues with the least total cost. Cues preferably end at the end of a
 * sentence, else at a pause, else at the end of a clause, and have similar lengths.
 */
function groupWords(words: readonly CaptionWord[], bounds: CueBounds): CaptionWord[][] {
  const sequence = {
    words,
    boundaries: words.map((word, at) => classifyGapAfterWord(word, words[at + 1])),
  }
  const costs = [0, ...words.map(() => Infinity)]
  const starts: number[] = []
  for (const from of words.keys()) {
    for (const { to, cost } of cuesFrom(sequence, from, bounds)) {
      const sum = (costs[from] ?? Infinity) + cost
      if (sum >= (costs[to] ?? Infinity)) continue
      costs[to] = sum
      starts[to] = from
    }
  }
  const groups: CaptionWord[][] = []
  for (let to = words.length; to > 0; to = starts[to] ?? 0) {
    groups.push(words.slice(starts[to] ?? 0, to))
  }
  return groups.toReversed()
}

/**
 * Yields the end (`to`, exclusive) and the cost of each subtitle cue that may begin at word index
 * `from`, the shortest cue first. A cue of one word is always allowed.
 */
function* cuesFrom({ words, boundaries }: WordSequence, from: number, bounds: CueBounds) {
  const startMs = words[from]?.startMs ?? 0
  const { add } = openLines(bounds.columnsMax)
  let columns = 0
  let passing = 0
  for (let to = from + 1; to <= words.length; to += 1) {
    const last = words[to - 1]
    const boundary = boundaries[to - 1]
    if (!last || boundary === undefined) return
    const isWithin = to - from <= bounds.wordsMax && last.endMs - startMs <= bounds.msMax
    const fits = add(last)
    if (to - from > 1 && !(isWithin && fits)) return
    columns += countColumnsAddedToLine(last, to - 1 - from)
    const next = words[to]
    const roomMs = (next?.startMs ?? Infinity) - startMs
    const isScrap = to - from === 1 || columns <= SCRAP_COLUMNS_MAX
    const isSentence = boundary === "sentence" && (boundaries[from - 1] ?? boundary) === boundary
    const cost =
      cueBreakCost(last, boundary) +
      passing +
      FILL_COST * (columns / (2 * bounds.columnsMax)) ** 2 +
      (roomMs < bounds.msMin ? SHORT_COST : 0) +
      (isScrap && !isSentence ? SCRAP_COST : 0)
    yield { to, cost }
    if (next) passing += PASSING_COSTS[boundary] + passingPause(computePauseMs(last, next))
  }
}

function cueBreakCost(last: CaptionWord, boundary: WordGapKind): number {
  const isShort = boundary === "word" && isShortWord(last)
  return CUE_BREAK_COSTS[boundary] + (isShort ? CUE_SHORT_WORD_COST : 0)
}

function passingPause(ms: number): number {
  if (ms < NOTICEABLE_PAUSE_MS) return 0
  return PAUSE_COST + (PAUSE_SECOND_COST * (ms - NOTICEABLE_PAUSE_MS)) / 1000
}

/**
 * Counts the columns of a subtitle cue of two lines, which are empty at first. `add` appends a
 * caption word to the lines and reports whether the word still fits.
 */
function openLines(columnsMax: number) {
  let line = 1
  let columns = 0
  function add(word: CaptionWord): boolean {
    columns += countColumnsAddedToLine(word, columns)
    if (columns <= columnsMax) return true
    line += 1
    columns = word.columns
    return line <= 2
  }
  return { add }
}
