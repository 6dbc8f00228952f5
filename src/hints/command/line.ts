import type { Known } from "../../kinds/command/facts/known.ts"
import type { Refusal } from "../../kinds/command/policy/refusal.ts"
import type { Terms } from "../../kinds/command/policy/terms.ts"
import { findHint } from "../hint-table.ts"
import type { Hint } from "../hint-table.ts"

/** A command as a caller wrote it, and the files that it may name. */
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

/** A mistake in a line, as a hint has it, and the code of its refusal where that is a rare one. */
export type LineHint = readonly [...hint: Hint, code?: Refusal["code"]]

/** A blank within a word of a line; the blanks between words are plain. */
export const BLANK = "\uE000"

/** Words in one line, a blank before and after each. */
export function lineOf(words: readonly string[]): string {
  return ` ${words.map(inLine).join(" ")} `
}

function inLine(word: string): string {
  return word.replace(/[ \t\r\n]/g, BLANK)
}

/**
 * The refusal by the first hint that a line matches, with `usualCode` where the hint has none; a match counts
 * only in one of `words`, if they are given.
 */
export function findLineHint(
  line: string,
  hints: readonly LineHint[],
  usualCode: Refusal["code"],
  { named = {}, words }: { named?: Record<string, string>; words?: readonly string[] } = {},
): Refusal | null {
  const allowed = words && new Set(words.map(inLine))
  for (const [looks, says, code = usualCode] of hints) {
    const begin = line.search(looks)
    const message = findHint(line, [[looks, says]], { named })?.replaceAll(BLANK, " ")
    if (message === undefined) continue
    const before = line.slice(0, begin) + line.slice(begin).split(" ", 1).join("")
    if (allowed && !allowed.has(before.slice(before.lastIndexOf(" ") + 1))) continue
    const [, option] = /(?:^| )(-[a-z]\S*)(?: \S*)?$/i.exec(before) ?? []
    return { code, message, ...(option !== undefined && { option }) }
  }
  return null
}

/** Names for the sentences of hints: the keys to write. */
export function namedKeys({ inputKeys, outputKeys, terms }: Written): Record<string, string> {
  return {
    in: `{{${inputKeys[0] ?? "in_1"}}}`,
    out: `{{${outputKeys[0] ?? "out_1"}}}`,
    several: terms.giveSeveral,
  }
}

/** The key that a word is, in braces or bare; the word itself where it is none. */
export function keyOf(word: string): string {
  return /^\{\{(.+)\}\}$/.exec(word)?.[1] ?? word
}
