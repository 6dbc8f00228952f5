import type { FaultCode } from "./fault-codes.ts"

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
    const begin = mayOmitProgram ? "an option or ffmpeg" : "ffmpeg"
    const error = `expected a command that begins with ${begin}, not with "${program}"${insteadOf(program)}`
    return { field, error, code: "not_ffmpeg" }
  }
  if (words.length > 0) return { field, words, raws }
  const error = "expected options and an output after ffmpeg"
  return { field, error, code: "empty_command" }
}

/** What to do instead of beginning with this word, where that is known. */
function insteadOf(program: string): string {
  if (program.startsWith("-")) return "; write ffmpeg before it"
  if (program.toLowerCase() === "ffmpeg") return "; write it in small letters"
  if (program !== "ffprobe") return ""
  return "; what ffprobe says of a file stands in its record, as GET /v1/files/{id} answers it"
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
      return { error: "it ends with a lone backslash" }
    } else if (character === "\\" && (quote === null || '$`"\\\n'.includes(next))) {
      if (next !== "\n") word = (word ?? "") + next
      at += 1
    } else if (quote === null && (character === "'" || character === '"')) {
      quote = character
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
  if (quote !== null) return { error: `a ${quote} is opened and never closed` }
  if (word !== null) {
    words.push(word)
    raws.push(source.slice(begin))
  }
  return { words, raws }
}
