import { printParseErrorCode, visit } from "jsonc-parser"
import { findHint } from "./hint-table.ts"
import type { Hint } from "./hint-table.ts"

/** Hints for request bodies in a format other than JSON. */
const OTHER_FORMATS: readonly Hint[] = [
  [/^\s*$/, "the body is empty"],
  [/^(?:\p{Cc}\uFFFD|PK\p{Cc})/u, "the body is compressed: send it uncompressed"],
  [/\0/, "the body is not UTF-8: encode it as UTF-8"],
  [
    /^\s*(@\S+)\s*$/,
    "the body is the name of a file: curl sends its content with `--data-binary $1`, not with `--data-raw`",
  ],
  [/^\s*\[object /, "the body is the printed form of an object: send `JSON.stringify(body)`"],
  [/^\s*<[!?a-z]/i, "the body is HTML or XML"],
  [
    /^\s*--.*content-disposition/is,
    "the body is a form: send it as multipart/form-data, with the Content-Type header that your client generates",
  ],
  [/^\s*([\w.-]+)[[\]]*=/, 'the body is a form: write `{"$1": …}`'],
  [/^\s*%7B/i, "the body is URL-encoded: send it without that encoding"],
  [/^\s*([\w-]+):\s/, 'the body is YAML: write `{"$1": …}`'],
]

/** Hints for characters that are invalid in a JSON string. */
const WITHIN_STRING: readonly Hint[] = [
  [/$/y, 'the body ends within a string: its closing `"` is missing'],
  [/\\(.?)/y, "write a backslash within a string as `\\\\`, as in `\\\\$1`"],
  [/[\n\r]/y, 'a string cannot span lines: write a line break as `\\n`, or add the missing `"`'],
  [/\t/y, "write a tab within a string as `\\t`"],
  [/./y, "a string contains a control character"],
]

/**
 * Hints for unexpected characters outside JSON strings, the most certain hint first. Hints with a
 * lookbehind apply after a value, where a comma is probably missing.
 */
const UNEXPECTED_CHARACTERS: readonly Hint[] = [
  [/\/\/|\/\*|#/y, "remove the comment: JSON has no comments"],
  [/[\p{Z}\p{Cf}]/uy, "remove the invisible character, or write a plain space"],
  [/(?<="\s*)=>?/y, "write `:` between a name and its value, not `$&`"],
  [/(?<=[\]}"\w]\s*)\}/y, "write `]` instead of `}`, or close the inner value first"],
  [/(?<=[\]}"\w]\s*)\]/y, "write `}` instead of `]`, or close the inner value first"],
  [
    /(?<=")[^\s,:]/y,
    'the string ends before this character: write a quote within a string as `\\"`',
  ],
  [/(?<=[\]}"\w]\s*)["\w{[]/y, "a comma is missing before this character"],
  [/(?<=[\]}"\w]\s*)./y, "expected a comma or a closing bracket instead of `$&`"],
  [/,/y, "remove the comma"],
  [/['‘’“”`]/y, 'write `"` instead of `$&`: JSON has only double quotes'],
  [/true\b/iy, "write `true` instead of `$&`"],
  [/false\b/iy, "write `false` instead of `$&`"],
  [/(?:none|null|nil|undefined|nan|infinity)\b/iy, "write `null` instead of `$&`"],
  [/\.\.\.|<[^>]*>|\$\{?\w*\}?|\{\{\w*\}?\}?|…/y, "replace `$&` by a value"],
  [
    /[+-]?\.?\d[\w.]*|-/y,
    "`$&` is not a JSON number: write it as `5` or `0.5`, or put it in double quotes",
  ],
  [/([\p{L}_$][\w$.-]*)(?=\s*:)/uy, 'put the name in double quotes: `"$1"`'],
  [/[\p{L}_][\w$.-]*/uy, "put the string that begins at `$&` in double quotes"],
  [/(?<=[{,]\s*)[^\]}]/y, "expected a name in double quotes instead of `$&`"],
  [
    /./y,
    "expected a value (a string in double quotes, a number, an object or a list) instead of `$&`",
  ],
]
const NO_COLON: readonly Hint[] = [[/./y, "write `:` between a name and its value, not `$&`"]]
const AFTER_END: readonly Hint[] = [
  [/[\w$.-]+|./y, "remove the text after the end of the JSON, from `$&` on"],
]

/**
 * Returns the correction of malformed JSON with its position: `expected JSON; line 3, column 5: …`.
 */
export function describeBrokenJson(text: string): string {
  const formatHint = findHint(text, OTHER_FORMATS)
  if (formatHint !== null) return `expected JSON, but ${formatHint}`
  const stops = findStops(text)
  if (stops.length === 0) return "expected JSON, but the body cannot be parsed"
  const { at, sentence } = describeStop(text, stops)
  const before = text.slice(0, at).split("\n")
  const column = (before.at(-1) ?? "").length + 1
  return `expected JSON; line ${before.length}, column ${column}: ${sentence}`
}

/** Offset of a JSON syntax error, and the parser's name for the error. */
type Stop = { at: number; code: string }

/**
 * Error that stops the JSON parser at the first syntax error, because the parser would otherwise
 * continue.
 */
const PARSE_STOP = new Error("the text is not JSON")

/**
 * Returns the first syntax error of a JSON text, or an error for each bracket that is missing at
 * the end.
 */
function findStops(text: string): Stop[] {
  const stops: Stop[] = []
  function onError(code: number, at: number) {
    stops.push({ at, code: printParseErrorCode(code) })
    if (at < text.length) throw PARSE_STOP
  }
  try {
    visit(text, { onError }, { disallowComments: true })
  } catch (error) {
    // The recursion of the parser may overflow the stack at deep nesting.
    if (error instanceof RangeError) return [{ at: 0, code: "TooDeep" }]
    if (error !== PARSE_STOP) throw error
  }
  return stops
}

const CLOSERS: Record<string, string> = { CloseBraceExpected: "`}`", CloseBracketExpected: "`]`" }
const CLOSERS_SHOWN_MAX = 8

function describeStop(text: string, stops: readonly Stop[]): { at: number; sentence: string } {
  const [{ at, code } = { at: 0, code: "" }] = stops
  if (code === "TooDeep") return { at, sentence: "the JSON nests too deeply to locate the mistake" }
  if (/String$|InvalidUnicode|InvalidEscapeCharacter|InvalidCharacter/.test(code)) {
    const end = endOfString(text, at)
    return { at: end, sentence: findHint(text, WITHIN_STRING, { at: end }) ?? code }
  }
  if (at >= text.length) {
    const missing = stops.flatMap((stop) => CLOSERS[stop.code] ?? []).slice(0, CLOSERS_SHOWN_MAX)
    const are = missing.length === 1 ? "is" : "are"
    return { at, sentence: `the JSON ends too early: ${missing.join(" ")} ${are} missing` }
  }
  const before = text.slice(0, at).trimEnd()
  if (/[\]},]/.test(text.charAt(at)) && before.endsWith(",")) {
    const sentence = `remove the comma before \`${text.charAt(at)}\``
    return { at: before.length - 1, sentence }
  }
  const begin = beginOfNumber(text, at)
  return { at: begin, sentence: findHint(text, hintsOf(code, before), { at: begin }) ?? code }
}

function hintsOf(code: string, before: string): readonly Hint[] {
  if (code === "ColonExpected") return NO_COLON
  return code === "EndOfFileExpected" || isJson(before) ? AFTER_END : UNEXPECTED_CHARACTERS
}

/**
 * Returns the start of a malformed number. For a number such as `01`, the parser reports the error
 * only after the `0`.
 */
function beginOfNumber(text: string, at: number): number {
  const word = /[+-]?\.?\d[\w.+-]*$/.exec(text.slice(Math.max(0, at - WORD_LENGTH_MAX), at))?.[0]
  return word !== undefined && /[\w.]/.test(text.charAt(at)) ? at - word.length : at
}

const WORD_LENGTH_MAX = 30

/** Returns the end of a JSON string, or the index of the string's first invalid character. */
function endOfString(text: string, at: number): number {
  const plain = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*/iuy
  plain.lastIndex = at
  return at + (plain.exec(text)?.[0].length ?? 0)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
