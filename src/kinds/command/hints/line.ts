import type { FfmpegCapabilities } from "../facts/capabilities.ts"
import type { CommandRefusal } from "../../../ffmpeg/policy/refusal.ts"
import type { RemedyPhrases } from "../../../ffmpeg/policy/remedies.ts"
import { findHint } from "../../../hints/hint-table.ts"
import type { Hint } from "../../../hints/hint-table.ts"

/** Command as the caller wrote it, with the keys of files that the command may name. */
export type CommandText = {
  /**
   * Words of the command without the program's name. The words contain file keys and not yet file
   * names.
   */
  words: readonly string[]
  /** Words of the command with the quotes and backslashes that the caller wrote. */
  raws: readonly string[]
  inputKeys: readonly string[]
  outputKeys: readonly string[]
  remedies: RemedyPhrases
  capabilities: FfmpegCapabilities | null
}

/**
 * Hint for a mistake in a command line: a pattern, a sentence, and the code of the refusal. Without
 * a code, the refusal gets the usual code of its check.
 */
export type LineHint = readonly [...hint: Hint, code?: CommandRefusal["code"]]

/**
 * Character that stands for white space within a word, because plain spaces separate the words of a
 * line.
 */
export const BLANK_PLACEHOLDER = "\uE000"

/** Joins words to a line that has a space before and after each word. */
export function joinWordsWithSpaces(words: readonly string[]): string {
  return ` ${words.map(inLine).join(" ")} `
}

function inLine(word: string): string {
  return word.replace(/[ \t\r\n]/g, BLANK_PLACEHOLDER)
}

/**
 * Returns the refusal for the first hint that matches a command line; null if no hint matches. A
 * hint without a code gives the code `usualCode`. If `words` are given, a match counts only if it
 * begins in one of these words.
 */
export function findRefusalByLineHints(
  line: string,
  hints: readonly LineHint[],
  usualCode: CommandRefusal["code"],
  { values = {}, words }: { values?: Record<string, string>; words?: readonly string[] } = {},
): CommandRefusal | null {
  const allowedWords = words && new Set(words.map(inLine))
  for (const [pattern, sentence, code = usualCode] of hints) {
    const begin = line.search(pattern)
    const message = findHint(line, [[pattern, sentence]], { values })?.replaceAll(
      BLANK_PLACEHOLDER,
      " ",
    )
    if (message === undefined) continue
    const before = line.slice(0, begin) + line.slice(begin).split(" ", 1).join("")
    if (allowedWords && !allowedWords.has(before.slice(before.lastIndexOf(" ") + 1))) continue
    const [, option] = /(?:^| )(-[a-z]\S*)(?: \S*)?$/i.exec(before) ?? []
    return { code, message, ...(option !== undefined && { option }) }
  }
  return null
}

/** Returns example placeholders of an input and an output, for the messages of hints. */
export function makeExamplePlaceholders({
  inputKeys,
  outputKeys,
  remedies,
}: CommandText): Record<string, string> {
  return {
    in: `{{${inputKeys[0] ?? "in_1"}}}`,
    out: `{{${outputKeys[0] ?? "out_1"}}}`,
    several: remedies.giveSeveral,
  }
}

/** Returns the key in a placeholder such as `{{in_1}}`. Returns any other word unchanged. */
export function removePlaceholderBraces(word: string): string {
  return /^\{\{(.+)\}\}$/.exec(word)?.[1] ?? word
}
