import { readFileSync } from "node:fs"
import { join } from "node:path"
import { listSourceFiles } from "./imports.ts"

/** Pattern of a comment in a source file: a block comment, or consecutive lines with `//`. */
const COMMENT = /\/\*\*?[^]*?\*\/|(?:^[ \t]*\/\/(?!\/).*\n?)+/gm
const MARKS = /^[ \t]*(?:\/\*\*?|\*\/|\*|\/\/)|\*\/[ \t]*$/gm
/** Pattern of a sentence that starts with a pronoun instead of a noun. */
const PRONOUN = /(?:^|[.:;!?]\s+)(What|Who|Whose|That|One)\s+(?![=<>])/g
/**
 * Pattern of a type whose name is a participle. Types are named by nouns: a participle says what
 * happened to a value, and not what the value is.
 */
const PARTICIPLE =
  /\btype (Answered|Asked|Brought|Built|Chosen|Described|Done|Ended|Found|Given|Handed|Heard|Held|Kept|Known|Linked|Listed|Made|Measured|Noted|Opened|Place|Placed|Places|Read|Received|Refused|Said|Seen|Sent|Shown|Taken|Told|Wanted|Watched|Written)\b/g
/** Folders with strings that callers read. The strings of these folders are checked too. */
const PLAIN_FOLDERS = /^src\/(?:contract|domain|ffmpeg|hints|kinds)\//
/** Pattern of a string with a sentence that begins with a pronoun instead of a noun. */
const PRONOUN_IN_STRING =
  /(["`])(?:(?:(?!\1)[^\\\n])*?[.;!?] )?([Ww]hat|[Ww]hose?|[Tt]hat|[Oo]ne|[Tt]here) \w/g
const TITLE =
  /\b(?:it|test|describe)(?:\.each\([^]*?\))?\(\s*"((?:what|who|whose|that|one) [^"]*)"/gi

/**
 * Finds comments, public strings, type names and test titles that break the rules for words.
 * Returns a sentence with the file and line for each.
 */
export function findWordProblems(root: string): string[] {
  return listSourceFiles(root)
    .filter((path) => /\.(?:tsx?|c|h)$/.test(path) && !path.startsWith("test/scripts/check/words"))
    .flatMap((path) => judgeWords(path, readFileSync(join(root, path), "utf8")))
}

function judgeWords(path: string, text: string): string[] {
  const comments = [...text.matchAll(COMMENT)].flatMap(({ 0: comment, index }) => {
    const plain = comment.replaceAll(MARKS, (mark) => " ".repeat(mark.length)).trimEnd()
    const start = plain.length - plain.trimStart().length
    return [...plain.trimStart().matchAll(PRONOUN)].map(
      ({ 1: word = "", 0: found, index: at }) => ({
        at: index + start + at + found.indexOf(word),
        problem: `a sentence of a comment begins with "${word}"`,
      }),
    )
  })
  const types = [...text.matchAll(PARTICIPLE)].map(({ 1: name, index }) => ({
    at: index,
    problem: `the type "${name}" is no noun of the field`,
  }))
  const titles = [...text.matchAll(TITLE)].map(({ 1: title, index }) => ({
    at: index,
    problem: `the title "${title}" begins with a pronoun`,
  }))
  return [...comments, ...types, ...titles, ...judgeStrings(path, text)].map(
    ({ at, problem }) => `${path}:${text.slice(0, at).split("\n").length}: ${problem}.`,
  )
}

/**
 * Finds sentences in the strings of a file that begin with a pronoun, if callers read the strings.
 * Returns each finding with its offset in the file.
 */
function judgeStrings(path: string, text: string): { at: number; problem: string }[] {
  if (!PLAIN_FOLDERS.test(path)) return []
  const code = text.replaceAll(COMMENT, (comment) => comment.replaceAll(/[^\n]/g, " "))
  return [...code.matchAll(PRONOUN_IN_STRING)].map(({ 2: word, index }) => ({
    at: index,
    problem: `a sentence of a string begins with "${word}"`,
  }))
}
