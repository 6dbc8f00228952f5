import stringWidth from "string-width"
import type { TranscriptSegment } from "./transcript-segment.ts"
import { areWrittenWithoutSpace, splitTextAtLineBreakOpportunities } from "./split-text.ts"

/**
 * Smallest unit of a subtitle, inside which no line break is allowed: usually a word with its
 * punctuation.
 */
export type CaptionWord = {
  text: string
  /** Whether a blank separates the caption word from the previous caption word. */
  isSpaced: boolean
  /**
   * Visible width of the caption word in columns. A wide character, such as a Chinese character,
   * takes two columns.
   */
  columns: number
  startMs: number
  endMs: number
  /** Whether the caption word is the last word of its transcript segment. */
  endsSegment: boolean
}

/**
 * Splits transcript segments into caption words of at most `columnsMax` columns, with start times
 * that never decrease.
 */
export function splitIntoCaptionWords(
  segments: readonly TranscriptSegment[],
  columnsMax: number,
): CaptionWord[] {
  const words: CaptionWord[] = []
  let fromMs = 0
  for (const segment of segments) {
    const { text, tokens, isSpaced } = readTokens(segment, fromMs)
    const pieces = splitTextAtLineBreakOpportunities(text, columnsMax)
    for (const [index, { from, to }] of pieces.entries()) {
      const piece = text.slice(from, to)
      const last = words.at(-1)?.text ?? ""
      words.push({
        text: piece,
        isSpaced:
          index === 0 ? isSpaced || !areWrittenWithoutSpace(last, piece) : text[from - 1] === " ",
        columns: stringWidth(piece),
        ...timesOf(tokens, from, to),
        endsSegment: index === pieces.length - 1,
      })
    }
    fromMs = tokens.at(-1)?.startMs ?? fromMs
  }
  return words
}

/**
 * Joins caption words to one text. Inserts a blank only before a word whose `isSpaced` is true,
 * since scripts such as Chinese write no blanks.
 */
export function joinCaptionWords(words: readonly CaptionWord[]): string {
  return words
    .map(({ text, isSpaced }, index) => (index > 0 && isSpaced ? " " : "") + text)
    .join("")
}

/** Returns the width, in columns, of a line that consists of the given caption words. */
export function countLineColumns(words: readonly CaptionWord[]): number {
  return words.reduce((sum, word, index) => sum + countColumnsAddedToLine(word, index), 0)
}

/**
 * Returns the number of columns that a caption word adds to a line. Includes the blank before the
 * word, except at the start of the line (`index` 0).
 */
export function countColumnsAddedToLine({ columns, isSpaced }: CaptionWord, index: number): number {
  return columns + (index > 0 && isSpaced ? 1 : 0)
}

/**
 * Returns the start and end time of a range of characters in the text of a transcript segment.
 * Assumes that each character of a recognized word takes an equal share of the word's time.
 */
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

/**
 * Word that Whisper recognized, with its start and end time. `from` and `to` (exclusive) are its
 * character range in the text of the transcript segment.
 */
type Token = { from: number; to: number; startMs: number; endMs: number }

/**
 * Text of a transcript segment, and the recognized words in order. `isSpaced` is true if the text
 * begins with a blank.
 */
type TimedText = { text: string; tokens: Token[]; isSpaced: boolean }

type TextAndTimes = { text: string; start: number; end: number }

/**
 * Joins the words of a transcript segment to a text. Returns the text and the times of each word. A
 * segment without words counts as one word. Sequences of blanks and control characters become one
 * blank. Raises start times so that no word begins before `fromMs` or before the previous word.
 */
function readTokens(segment: TranscriptSegment, fromMs: number): TimedText {
  const words = segment.words.map(({ word, start, end }) => ({ text: word, start, end }))
  const parts = words.some(({ text }) => clean(text).trim() !== "") ? words : [segment]
  const tokens: Token[] = []
  let text = ""
  let isSpaced = false
  let earliestMs = fromMs
  for (const each of parts) {
    const cleaned = clean(each.text)
    const trimmed = cleaned.trim()
    if (text === "" && cleaned.startsWith(" ")) isSpaced = true
    if (trimmed === "") continue
    if (text !== "" && !text.endsWith(" ") && cleaned.startsWith(" ")) text += " "
    const token = {
      from: text.length,
      to: text.length + trimmed.length,
      ...tokenTimes(each, earliestMs),
    }
    tokens.push(token)
    earliestMs = token.startMs
    text += cleaned.trimStart()
  }
  return { text: text.trimEnd(), tokens, isSpaced }
}

function tokenTimes({ start, end }: TextAndTimes, earliestMs: number) {
  const startMs = Math.max(earliestMs, Math.round(start * 1000))
  return { startMs, endMs: Math.max(startMs, Math.round(end * 1000)) }
}

/** Replaces each sequence of blanks, line ends and control characters by one blank. */
function clean(text: string): string {
  return text.toWellFormed().replace(/[\s\p{Cc}]+/gu, " ")
}
