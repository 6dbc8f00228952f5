import type { CommandFaultCode } from "../../domain/faults.ts"
import { describeWrongProgram } from "./hints/programs.ts"

const WORDS_MAX = 4000

/**
 * Command line in a request, with its request field. `mayOmitProgram` tells whether the line may
 * begin without the word `ffmpeg`.
 */
export type CommandLine = { field: string; text: string; mayOmitProgram: boolean }

/**
 * Words of a command line without `ffmpeg`. `words` are unquoted, and `raws` have the quotes of the
 * caller. A line that is not a valid command has an error instead of words.
 */
export type ParsedCommandLine = { field: string } & (
  | { words: string[]; raws: string[] }
  | { error: string; code: CommandFaultCode }
)

/**
 * Splits a command line into words without the program's name. Returns an error if the line is not
 * a valid ffmpeg command.
 */
export function parseCommandLine({ field, text, mayOmitProgram }: CommandLine): ParsedCommandLine {
  const result = splitWords(text)
  if ("error" in result) {
    const error = `the command cannot be split into words: ${result.error}`
    return { field, error, code: "unreadable_command" }
  }
  const [program = "", ...rest] = result.words
  if (result.words.length > WORDS_MAX) {
    return { field, error: `expected at most ${WORDS_MAX} words`, code: "too_many_words" }
  }
  const words = program === "ffmpeg" ? rest : result.words
  const raws = result.raws.slice(result.words.length - words.length)
  if (program !== "ffmpeg" && words.length > 0 && !(mayOmitProgram && program.startsWith("-"))) {
    const error = describeWrongProgram(result.words, result.raws, mayOmitProgram)
    return { field, error, code: "not_ffmpeg" }
  }
  if (words.length > 0) return { field, words, raws }
  const error = "expected options and an output after ffmpeg, as in `ffmpeg -i {{in_1}} {{out_1}}`"
  return { field, error, code: "empty_command" }
}

/**
 * Patterns of characters without a special meaning: outside quotes, in single quotes and in double
 * quotes.
 */
const PLAIN = { "": /[^\s'"\\]+/y, "'": /[^']+/y, '"': /[^"\\]+/y }

/**
 * Words of a command line: unquoted (`words`), and with the quotes of the caller (`raws`). A line
 * that cannot be split has an error instead of words.
 */
type SplitResult = { words: string[]; raws: string[] } | { error: string }

/**
 * Splits a line into words as a POSIX shell does: with single and double quotes, backslash, and
 * backslash-newline. The function expands nothing: `$`, `~` and globs are plain characters.
 */
export function splitWords(line: string): SplitResult {
  if (line.includes("\0")) return { error: "it contains a NUL character" }
  const words: string[] = []
  const raws: string[] = []
  let word: string | null = null
  let begin = 0
  let quoteStart = 0
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
      return { error: "it ends with a lone backslash; leave the backslash out" }
    } else if (character === "\\" && (quote === null || '$`"\\\n'.includes(next))) {
      if (next !== "\n") word = (word ?? "") + next
      at += 1
    } else if (quote === null && (character === "'" || character === '"')) {
      quote = character
      quoteStart = at
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
  if (quote !== null) return { error: describeOpenQuote(source, { quote, quoteStart }) }
  if (word !== null) {
    words.push(word)
    raws.push(source.slice(begin))
  }
  return { words, raws }
}

/** Describes a quote without its closing quote. The usual cause is an apostrophe in a text. */
function describeOpenQuote(
  source: string,
  { quote, quoteStart }: { quote: string; quoteStart: number },
): string {
  const near = source.slice(Math.max(0, quoteStart - 10), quoteStart + 10).trim()
  const isApostrophe = /[a-z]'[a-z]/i.test(source)
  const instead =
    quote === "'" && isApostrophe
      ? 'within double quotes an apostrophe is a letter, as in "It\'s"'
      : `write another ${quote} where it ends`
  return `the ${quote} in "${near}" is opened and never closed; ${instead}`
}
