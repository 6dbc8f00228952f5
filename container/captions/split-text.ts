import stringWidth from "string-width"

/** Range of character positions in a text; `to` is exclusive. */
export type TextRange = { from: number; to: number }

/**
 * Matches a letter or punctuation mark of a script that is written without blanks between words,
 * such as Chinese.
 */
const UNSPACED =
  /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\u3000-\u303f\uff01-\uff60]/u
const OPENING = /^[\p{Ps}\p{Pi}¿¡]/u
const PUNCTUATION = /^\p{P}+$/u

const words = new Intl.Segmenter(undefined, { granularity: "word" })
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** Reports whether two consecutive texts are written without a blank in between, as in Chinese. */
export function areWrittenWithoutSpace(before: string, after: string): boolean {
  return UNSPACED.test(lastOf(before)) && UNSPACED.test(firstOf(after))
}

/**
 * Splits a text at all positions where a line may break: at blanks, and between words of scripts
 * without blanks. A word wider than a line is split between graphemes.
 */
export function splitTextAtLineBreakOpportunities(text: string, columnsMax: number): TextRange[] {
  const pieces: TextRange[] = []
  for (const { 0: run, index } of text.matchAll(/\S+/g)) {
    for (const piece of splitRun(run)) {
      const { from, to } = { from: index + piece.from, to: index + piece.to }
      const before = pieces.at(-1)
      const isClosing =
        PUNCTUATION.test(text.slice(from, to)) && !OPENING.test(text.slice(from, to))
      const joined = before && text.slice(before.from, to)
      // Keeps a punctuation mark after a blank, as in French, together with the previous word.
      if (before && isClosing && stringWidth(joined ?? "") <= columnsMax) before.to = to
      else pieces.push(...splitWide(text, { from, to }, columnsMax))
    }
  }
  return pieces
}

/**
 * Splits a text without blanks into words, if its script writes no blanks between words. Returns
 * any other text as a whole.
 */
function splitRun(run: string): TextRange[] {
  if (!UNSPACED.test(run)) return [{ from: 0, to: run.length }]
  const pieces: TextRange[] = []
  let before = ""
  for (const { segment, index } of words.segment(run)) {
    const last = pieces.at(-1)
    const to = index + segment.length
    if (last && !mayBreak(before, segment)) last.to = to
    else pieces.push({ from: index, to })
    before = segment
  }
  return pieces
}

function mayBreak(before: string, after: string): boolean {
  if (OPENING.test(before)) return false
  if (PUNCTUATION.test(after) && !OPENING.test(after)) return false
  return UNSPACED.test(lastOf(before)) || UNSPACED.test(firstOf(after))
}

function splitWide(text: string, piece: TextRange, columnsMax: number): TextRange[] {
  const whole = text.slice(piece.from, piece.to)
  if (stringWidth(whole) <= columnsMax) return [piece]
  const pieces: TextRange[] = []
  let columns = Infinity
  for (const { segment, index } of graphemes.segment(whole)) {
    const from = piece.from + index
    const to = from + segment.length
    columns += stringWidth(segment)
    const last = pieces.at(-1)
    if (last && columns <= columnsMax) {
      last.to = to
      continue
    }
    pieces.push({ from, to })
    columns = stringWidth(segment)
  }
  return pieces
}

function firstOf(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 0)
}

function lastOf(text: string): string {
  return Array.from(text.slice(-2)).at(-1) ?? ""
}
