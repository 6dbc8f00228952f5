import { cutText } from "../../../cut-text.ts"
import type { Known } from "../facts/known.ts"
import type { Terms } from "../policy/terms.ts"

/** A command as it is written, and what it may name. */
export type Written = {
  /** Its words without the program, keys not yet replaced by names. */
  words: readonly string[]
  /** The same words with the quotes and backslashes that they are written with. */
  raws: readonly string[]
  inputKeys: readonly string[]
  outputKeys: readonly string[]
  terms: Terms
  known: Known | null
}

/** The key that a word is, in braces or bare; the word itself where it is none. */
export function keyOf(word: string): string {
  return /^\{\{(.+)\}\}$/.exec(word)?.[1] ?? word
}

/** A key as a command is to name it, in backticks; the first of some, or one as an example. */
export function placed(keys: readonly string[], example: string): string {
  return `\`{{${keys[0] ?? example}}}\``
}

/** What of a command is shown in backticks: words, as they are written. */
export function shown(text: string): string {
  const short = cutText(text, SHOWN_MAX)
  return short.includes("`") ? `"${short}"` : `\`${short}\``
}

const SHOWN_MAX = 120
