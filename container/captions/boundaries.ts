import { joinsUnspaced } from "./split-text.ts"
import type { Unit } from "./units.ts"

/** A pause that viewers notice. */
export const PAUSE_MS_MIN = 500

/** What is between two units, from the best place to break at to the worst. */
export type Boundary = "sentence" | "pause" | "clause" | "word"

const SENTENCE_END = /[\p{STerm}…][\p{Pe}\p{Pf}\p{Pi}"']*$/u
const CLAUSE_END = /[\p{Term}—–…][\p{Pe}\p{Pf}\p{Pi}"']*$/u
const SHORT_WORD = /^\p{L}{1,3}$/u
/** Words whose full stop ends no sentence: titles, and single letters. */
const ABBREVIATION = /^["'(]*(?:mr|mrs|ms|dr|prof|rev|hon|gen|col|capt|lt|sgt|st|mt|vs|\p{L})\.$/iu

/** What is between a unit and the next one; the end of all is that of a sentence. */
export function boundaryAfter(unit: Unit, next: Unit | undefined): Boundary {
  if (!next || endsSentence(unit, next)) return "sentence"
  if (pauseAfter(unit, next) >= PAUSE_MS_MIN) return "pause"
  // In Thai, and without punctuation, blanks and segments are all that tells of clauses.
  const isBlankClause = next.isSpaced && joinsUnspaced(unit.text, next.text)
  return CLAUSE_END.test(unit.text) || unit.endsSegment || isBlankClause ? "clause" : "word"
}

/** How long nothing is said after a unit. */
export function pauseAfter(unit: Unit, next: Unit): number {
  return Math.max(0, next.startMs - unit.endMs)
}

/** Whether a unit is a short word, as an article, which belongs to the next one. */
export function isShortWord({ text }: Unit): boolean {
  return SHORT_WORD.test(text)
}

function endsSentence({ text }: Unit, next: Unit): boolean {
  if (!SENTENCE_END.test(text) || ABBREVIATION.test(text)) return false
  return !(/[.…]["'”’»)\]]*$/.test(text) && /^\p{Ll}/u.test(next.text))
}
