import type { FaultCode } from "./fault-codes.ts"
import { describeProgram } from "../../hints/command/programs.ts"

const WORDS_MAX = 4000

/** A command as it stands in a request, and the field that it stands in. */
export type Line = { field: string; text: string; mayOmitProgram: boolean }

/**
 * The words of a line without the program's name, and the same as they are written, with quotes; or why
 * it has none that can be read.
 */
export type ReadLine = { field: string } & (
  | { words: string[]; raws: string[] }
  | { error: string; code: FaultCode }
)

/** Splits a command into words without the program, or says why it cannot be. */
export function readLine({ field, text, mayOmitProgram }: Line): ReadLine {
  const split = splitWords(text)
  if ("error" in split) {
    const error = `it cannot be split into words: ${split.error}`
    return { field, error, code: "unreadable_command" }
  }
  const [program = "", ...rest] = split.words
  if (split.words.length > WORDS_MAX) {
    return { field, error: `expected at most ${WORDS_MAX} words`, code: "too_many_words" }
  }
  const words = program === "ffmpeg" ? rest : split.words
  const raws = split.raws.slice(split.words.length - words.length)
  if (program !== "ffmpeg" && words.length > 0 && !(mayOmitProgram && program.startsWith("-"))) {
    const error = describeProgram(split.words, split.raws, mayOmitProgram)
    return { field, error, code: "not_ffmpeg" }
  }
  if (words.length > 0) return { field, words, raws }
  const error = "expected options and an output after ffmpeg, as in `ffmpeg -i {{in_1}} {{out_1}}`"
  return { field, error, code: "empty_command" }
}

/** What stands for itself, by the quote that it stands in. */
const PLAIN = { "": /[^\s'"\\]+/y, "'": /[^']+/y, '"': /[^"\\]+/y }

/** A command line split into words, unquoted and as written, or a sentence that says why it cannot be. */
type Split = { words: string[]; raws: string[] } | { error: string }

/**
 * Splits a line as a POSIX shell would: single and double quotes, backslash, backslash-newline.
 * Nothing is expanded: `$`, `~` and globs are plain characters.
 */
export function splitWords(line: string): Split {
  if (line.includes("\0")) return { error: "it holds a NUL character" }
  const words: string[] = []
  const raws: string[] = []
  let word: string | null = null
  let begin = 0
  let opened = 0
  let quote: "'" | '"' | null = null
  const source = line.replaceAll("\\\r\n", "\\\n").replace(/\{\{\s*([^{}\s]+)\s*\}\}/g, "{{$1}}")
  for (let at = 0; at < source.length; at += 1) {
    const plain = PLAIN[quote ?? ""]
    plain.lastIndex = at
    const [run] = plain.exec(source) ?? []
    if (run !== undefined) {
      word = (word ?? "") + run
      at = plain.lastIndex - 1
      continue
    }
    const character = source.charAt(at)
    const next = source.charAt(at + 1)
    if (character === quote) {
      quote = null
    } else if (character === "\\" && next === "") {
      return { error: "it ends with a lone backslash; leave that out" }
    } else if (character === "\\" && (quote === null || '$`"\\\n'.includes(next))) {
      if (next !== "\n") word = (word ?? "") + next
      at += 1
    } else if (quote === null && (character === "'" || character === '"')) {
      quote = character
      opened = at
      word ??= ""
    } else if (quote === null && /\s/.test(character)) {
      if (word !== null) {
        words.push(word)
        raws.push(source.slice(begin, at))
      }
      word = null
      begin = at + 1
    } else {
      word = (word ?? "") + character
    }
  }
  if (quote !== null) return { error: describeOpenQuote(source, { quote, opened }) }
  if (word !== null) {
    words.push(word)
    raws.push(source.slice(begin))
  }
  return { words, raws }
}

/** Why a quote has no end: an apostrophe within a text, more often than not. */
function describeOpenQuote(
  source: string,
  { quote, opened }: { quote: string; opened: number },
): string {
  const near = source.slice(Math.max(0, opened - 10), opened + 10).trim()
  const isApostrophe = /[a-z]'[a-z]/i.test(source)
  const instead =
    quote === "'" && isApostrophe
      ? 'within double quotes an apostrophe is a letter, as in "It\'s"'
      : `write another ${quote} where it ends`
  return `the ${quote} in "${near}" is opened and never closed; ${instead}`
}
