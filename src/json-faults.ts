import { describeOtherFormat } from "./json-others.ts"
import { sentenceOf } from "./json-sentences.ts"
import type { Expected, Stop } from "./json-sentences.ts"

/** What to mend in a text that is no JSON, with its place: `expected JSON; line 3, column 5: …`. */
export function describeBrokenJson(text: string): string {
  const other = describeOtherFormat(text)
  if (other !== null) return `expected JSON, and ${other}`
  const stop = findStop(text)
  if (stop === null) return "expected JSON, and it cannot be parsed"
  const { at, words } = sentenceOf(text, stop)
  const before = text.slice(0, at).split("\n")
  const column = (before.at(-1) ?? "").length + 1
  return `expected JSON; line ${before.length}, column ${column}: ${words}`
}

/** Reads a text up to where it is no JSON any more; null where it is JSON. It may be nested at will. */
function findStop(text: string): Stop | null {
  const open: string[] = []
  let expected: Expected = "value"
  let at = 0
  for (;;) {
    at = skipBlanks(text, at)
    if (at >= text.length) return expected === "end" ? null : { at, expected, open }
    const next: Step | null = step(text, { at, expected, open })
    if (next === null) return { at, expected, open }
    if ("inText" in next) return { at: next.inText, expected: "letter", open }
    at = next.at
    expected = next.expected
  }
}

type Step = { at: number; expected: Expected } | { inText: number }

function step(text: string, { at, expected, open }: Stop & { open: string[] }): Step | null {
  const letter = text.charAt(at)
  if (expected === "colon") return letter === ":" ? { at: at + 1, expected: "value" } : null
  if (expected === "comma" || letter === firstCloser(expected)) {
    return readSeparator(letter, at, open)
  }
  if (expected === "end") return null
  const isName = expected === "name" || expected === "first name"
  if (letter === '"') {
    const end = endOfText(text, at + 1)
    if (text.charAt(end) !== '"') return { inText: end }
    return { at: end + 1, expected: isName ? "colon" : afterValue(open) }
  }
  if (isName) return null
  if (letter === "{" || letter === "[") {
    open.push(letter)
    return { at: at + 1, expected: letter === "{" ? "first name" : "first value" }
  }
  const word = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/.exec(
    text.slice(at, at + WORD_LENGTH_MAX),
  )?.[0]
  return word ? { at: at + word.length, expected: afterValue(open) } : null
}

/** Of words longer than this the rest is taken for something else. */
const WORD_LENGTH_MAX = 400

function firstCloser(expected: Expected): string | null {
  if (expected === "first name") return "}"
  return expected === "first value" ? "]" : null
}

function readSeparator(letter: string, at: number, open: string[]): Step | null {
  const isObject = open.at(-1) === "{"
  if (letter === ",") return { at: at + 1, expected: isObject ? "name" : "value" }
  if (letter !== (isObject ? "}" : "]")) return null
  open.pop()
  return { at: at + 1, expected: afterValue(open) }
}

function afterValue(open: readonly string[]): Expected {
  return open.length === 0 ? "end" : "comma"
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (" \t\r\n".includes(text.charAt(at)) && at < text.length) at += 1
  return at
}

/** Where a text that began ends: at its quote, or at what cannot stand in it. */
function endOfText(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const letter = text.charAt(at)
    if (letter === '"' || letter < " ") return at
    if (letter !== "\\") continue
    if (!/^\\(?:["\\/bfnrt]|u[\da-f]{4})/i.test(text.slice(at, at + 6))) return at
    at += 1
  }
  return text.length
}
