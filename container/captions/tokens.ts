import type { Segment } from "./segment.ts"

/** A word of a text, from its first character to behind its last, and when it is said. */
export type Token = { from: number; to: number; startMs: number; endMs: number }

/** The text of a segment, with its words in order; `isSpaced`: whether it begins with a blank. */
export type TimedText = { text: string; tokens: Token[]; isSpaced: boolean }

type TextAndTimes = { text: string; start: number; end: number }

/**
 * Reads the words of a segment; without words, its text is one. Blanks and what cannot be shown
 * become one blank each, and no word begins before `fromMs`, or before the word before it.
 */
export function readTokens(segment: Segment, fromMs: number): TimedText {
  const words = segment.words.map(({ word, start, end }) => ({ text: word, start, end }))
  const said = words.some(({ text }) => clean(text).trim() !== "") ? words : [segment]
  const tokens: Token[] = []
  let text = ""
  let isSpaced = false
  let earliestMs = fromMs
  for (const each of said) {
    const cleaned = clean(each.text)
    const trimmed = cleaned.trim()
    if (text === "" && cleaned.startsWith(" ")) isSpaced = true
    if (trimmed === "") continue
    if (text !== "" && !text.endsWith(" ") && cleaned.startsWith(" ")) text += " "
    const token = {
      from: text.length,
      to: text.length + trimmed.length,
      ...timesOf(each, earliestMs),
    }
    tokens.push(token)
    earliestMs = token.startMs
    text += cleaned.trimStart()
  }
  return { text: text.trimEnd(), tokens, isSpaced }
}

function timesOf({ start, end }: TextAndTimes, earliestMs: number) {
  const startMs = Math.max(earliestMs, Math.round(start * 1000))
  return { startMs, endMs: Math.max(startMs, Math.round(end * 1000)) }
}

/** A text in which each run of blanks, line ends and control characters is one blank. */
function clean(text: string): string {
  return text.toWellFormed().replace(/[\s\p{Cc}]+/gu, " ")
}
