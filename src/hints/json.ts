import { printParseErrorCode, visit } from "jsonc-parser"
import { findHint } from "./hint-table.ts"
import type { Hint } from "./hint-table.ts"

/** Texts that were never meant to be JSON. */
const OTHER_FORMATS: readonly Hint[] = [
  [/^\s*$/, "the body is empty"],
  [/^(?:\p{Cc}\uFFFD|PK\p{Cc})/u, "the body is compressed: send it as it is"],
  [/\0/, "the body is no UTF-8: save it as UTF-8"],
  [
    /^\s*(@\S+)\s*$/,
    "the body is the name of a file: curl reads it with `--data-binary $1`, and not with `--data-raw`",
  ],
  [/^\s*\[object /, "the body is an object as a program shows it: send `JSON.stringify(body)`"],
  [/^\s*<[!?a-z]/i, "the body is HTML or XML"],
  [
    /^\s*--.*content-disposition/is,
    "the body is a form: send it as multipart/form-data, with the header that your client makes for it",
  ],
  [/^\s*([\w.-]+)[[\]]*=/, 'the body is a form: write `{"$1": …}`'],
  [/^\s*%7B/i, "the body is encoded as in a URL: send it as it is"],
  [/^\s*([\w-]+):\s/, 'the body is YAML: write `{"$1": …}`'],
]

/** Signs that cannot stand within a text of JSON. */
const WITHIN_TEXT: readonly Hint[] = [
  [/$/y, 'it ends within a text: the `"` after it is missing'],
  [/\\(.?)/y, "write a backslash within a text as `\\\\`, as in `\\\\$1`"],
  [/[\n\r]/y, 'a text ends on its line: write a line break in it as `\\n`, or its `"` is missing'],
  [/\t/y, "write a tab within a text as `\\t`"],
  [/./y, "a control character is in a text"],
]

/** Signs that stand where JSON has another one, the surest first; what is behind a value lacks a comma. */
const SIGNS: readonly Hint[] = [
  [/\/\/|\/\*|#/y, "take out the comment: JSON has none"],
  [/[\p{Z}\p{Cf}]/uy, "take out the invisible character, or write a plain space"],
  [/(?<="\s*)=>?/y, "write `:` between a name and its value, and not `$&`"],
  [/(?<=[\]}"\w]\s*)\}/y, "write `]` for `}`, or close what is within first"],
  [/(?<=[\]}"\w]\s*)\]/y, "write `}` for `]`, or close what is within first"],
  [/(?<=")[^\s,:]/y, 'the text ends before it: write a quote within a text as `\\"`'],
  [/(?<=[\]}"\w]\s*)["\w{[]/y, "a comma is missing before it"],
  [/(?<=[\]}"\w]\s*)./y, "expected a comma or the end of what is open, and there is `$&`"],
  [/,/y, "take out the comma"],
  [/['‘’“”`]/y, 'write `"` for `$&`: JSON has double quotes alone'],
  [/true\b/iy, "write `true` for `$&`"],
  [/false\b/iy, "write `false` for `$&`"],
  [/(?:none|null|nil|undefined|nan|infinity)\b/iy, "write `null` for `$&`"],
  [/\.\.\.|<[^>]*>|\$\{?\w*\}?|\{\{\w*\}?\}?|…/y, "write a value in the place of `$&`"],
  [
    /[+-]?\.?\d[\w.]*|-/y,
    "`$&` is no number of JSON: write it as `5` or `0.5`, or as a text in double quotes",
  ],
  [/([\p{L}_$][\w$.-]*)(?=\s*:)/uy, 'put the name into double quotes: `"$1"`'],
  [/[\p{L}_][\w$.-]*/uy, "put the text into double quotes: it begins at `$&`"],
  [/(?<=[{,]\s*)[^\]}]/y, "expected a name in double quotes, and there is `$&`"],
  [
    /./y,
    "a value is missing: expected a text in double quotes, a number, an object or a list, and there is `$&`",
  ],
]
const NO_COLON: readonly Hint[] = [[/./y, "write `:` between a name and its value, and not `$&`"]]
const AFTER_END: readonly Hint[] = [
  [/[\w$.-]+|./y, "take out what follows the end of the JSON, from `$&` on"],
]

/** What to mend in a text that is no JSON, with its place: `expected JSON; line 3, column 5: …`. */
export function describeBrokenJson(text: string): string {
  const other = findHint(text, OTHER_FORMATS)
  if (other !== null) return `expected JSON, and ${other}`
  const stops = findStops(text)
  if (stops.length === 0) return "expected JSON, and it cannot be parsed"
  const { at, says } = describeStop(text, stops)
  const before = text.slice(0, at).split("\n")
  const column = (before.at(-1) ?? "").length + 1
  return `expected JSON; line ${before.length}, column ${column}: ${says}`
}

/** Where a text stops being JSON, as an offset, and the parser's name for what is wrong there. */
type Stop = { at: number; code: string }

/** The end of a parse at its first fault: the parser goes on after each. */
const STOPPED = new Error("the text is no JSON")

/** The first place where a text is no JSON, or all signs that are missing at its end. */
function findStops(text: string): Stop[] {
  const stops: Stop[] = []
  function onError(code: number, at: number) {
    stops.push({ at, code: printParseErrorCode(code) })
    if (at < text.length) throw STOPPED
  }
  try {
    visit(text, { onError }, { disallowComments: true })
  } catch (error) {
    // The parser calls itself for each level, so that it may run out of stack.
    if (error instanceof RangeError) return [{ at: 0, code: "TooDeep" }]
    if (error !== STOPPED) throw error
  }
  return stops
}

const CLOSERS: Record<string, string> = { CloseBraceExpected: "`}`", CloseBracketExpected: "`]`" }
const CLOSERS_SHOWN_MAX = 8

function describeStop(text: string, stops: readonly Stop[]): { at: number; says: string } {
  const [{ at, code } = { at: 0, code: "" }] = stops
  if (code === "TooDeep") return { at, says: "it nests too deep to tell what is wrong with it" }
  if (/String$|InvalidUnicode|InvalidEscapeCharacter|InvalidCharacter/.test(code)) {
    const end = endOfText(text, at)
    return { at: end, says: findHint(text, WITHIN_TEXT, { at: end }) ?? code }
  }
  if (at >= text.length) {
    const missing = stops.flatMap((stop) => CLOSERS[stop.code] ?? []).slice(0, CLOSERS_SHOWN_MAX)
    const are = missing.length === 1 ? "is" : "are"
    return { at, says: `it ends too early: ${missing.join(" ")} ${are} missing` }
  }
  const before = text.slice(0, at).trimEnd()
  if (/[\]},]/.test(text.charAt(at)) && before.endsWith(",")) {
    const says = `take out the comma before \`${text.charAt(at)}\``
    return { at: before.length - 1, says }
  }
  const begin = beginOfNumber(text, at)
  return { at: begin, says: findHint(text, hintsOf(code, before), { at: begin }) ?? code }
}

function hintsOf(code: string, before: string): readonly Hint[] {
  if (code === "ColonExpected") return NO_COLON
  return code === "EndOfFileExpected" || isJson(before) ? AFTER_END : SIGNS
}

/** The parser ends a number where it stops being one: the `0` of `01` is a number. */
function beginOfNumber(text: string, at: number): number {
  const word = /[+-]?\.?\d[\w.+-]*$/.exec(text.slice(Math.max(0, at - WORD_LENGTH_MAX), at))?.[0]
  return word !== undefined && /[\w.]/.test(text.charAt(at)) ? at - word.length : at
}

const WORD_LENGTH_MAX = 30

/** Where a text that begins at a quote ends, or holds a sign that it cannot. */
function endOfText(text: string, at: number): number {
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
