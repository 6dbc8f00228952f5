import { areWrittenWithoutSpace } from "./split-text.ts"
import type { CaptionWord } from "./caption-words.ts"

/** Shortest pause in speech that viewers notice, in milliseconds. */
export const NOTICEABLE_PAUSE_MS = 500

/** Kind of gap between two caption words, from the best place to end a line or cue to the worst. */
export type WordGapKind = "sentence" | "pause" | "clause" | "word"

const SENTENCE_END = /[\p{STerm}…][\p{Pe}\p{Pf}\p{Pi}"']*$/u
const CLAUSE_END = /[\p{Term}—–…][\p{Pe}\p{Pf}\p{Pi}"']*$/u
const SHORT_WORD = /^\p{L}{1,3}$/u
/** Matches titles such as `Dr.` and single letters, whose full stop does not end a sentence. */
const ABBREVIATION = /^["'(]*(?:mr|mrs|ms|dr|prof|rev|hon|gen|col|capt|lt|sgt|st|mt|vs|\p{L})\.$/iu

/**
 * Returns the kind of gap between a caption word and the next word. The last caption word counts as
 * the end of a sentence.
 */
export function classifyGapAfterWord(
  word: CaptionWord,
  next: CaptionWord | undefined,
): WordGapKind {
  if (!next || endsSentence(word, next)) return "sentence"
  if (computePauseMs(word, next) >= NOTICEABLE_PAUSE_MS) return "pause"
  // Counts the end of a segment as the end of a clause, for text without punctuation. In scripts
  // without blanks between words, such as Thai, also counts a blank as the end of a clause.
  const isBlankClause = next.isSpaced && areWrittenWithoutSpace(word.text, next.text)
  return CLAUSE_END.test(word.text) || word.endsSegment || isBlankClause ? "clause" : "word"
}

/** Returns the silence between two consecutive caption words, in milliseconds. */
export function computePauseMs(word: CaptionWord, next: CaptionWord): number {
  return Math.max(0, next.startMs - word.endMs)
}

/**
 * Reports whether a caption word is short, such as an article. A subtitle line should not end with
 * a short word.
 */
export function isShortWord({ text }: CaptionWord): boolean {
  return SHORT_WORD.test(text)
}

function endsSentence({ text }: CaptionWord, next: CaptionWord): boolean {
  if (!SENTENCE_END.test(text) || ABBREVIATION.test(text)) return false
  return !(/[.…]["'”’»)\]]*$/.test(text) && /^\p{Ll}/u.test(next.text))
}
