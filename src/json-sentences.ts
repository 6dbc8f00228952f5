/** What could stand at a place of a JSON text. */
export type Expected =
  | "value"
  | "first value"
  | "name"
  | "first name"
  | "colon"
  | "comma"
  | "letter"
  | "end"

/** Where a text stops being JSON, as an offset; what could stand there, and what is open. */
export type Stop = { at: number; expected: Expected; open: readonly string[] }
type Sentence = { at: number; words: string }

const CLOSERS: Record<string, string> = { "{": "}", "[": "]" }
const CLOSERS_SHOWN_MAX = 8
const WORD_SHOWN_MAX = 30

/** Words of other languages, and what JSON writes. */
const OTHER_WORDS: Record<string, string> = {
  True: "true",
  TRUE: "true",
  False: "false",
  FALSE: "false",
  None: "null",
  NULL: "null",
  Null: "null",
  nil: "null",
  undefined: "null",
  NaN: "null",
  Infinity: "null",
}

/** What to mend where a text stops being JSON, and the place of that. */
export function sentenceOf(text: string, stop: Stop): Sentence {
  const { at, expected, open } = stop
  const comma = text.slice(0, at).trimEnd()
  const isCloser = /[\]},]/.test(text.charAt(at))
  if (expected !== "comma" && isCloser && comma.endsWith(",")) {
    return { at: comma.length - 1, words: `take out the comma before \`${text.charAt(at)}\`` }
  }
  if (expected === "letter") return { at, words: describeInText(text, at) }
  if (at >= text.length) return { at, words: describeEnd(open) }
  return { at, words: describeLetter(text, stop) }
}

function describeEnd(open: readonly string[]): string {
  const missing = open.toReversed().slice(0, CLOSERS_SHOWN_MAX)
  return `it ends too early: ${missing.map((each) => `\`${CLOSERS[each]}\``).join(" ")} ${missing.length === 1 ? "is" : "are"} missing`
}

function describeInText(text: string, at: number): string {
  const letter = text.charAt(at)
  if (letter === "") return 'it ends within a text: the `"` after it is missing'
  if (letter === "\\") {
    return `write a backslash within a text as \`\\\\\`, as in \`\\\\${text.charAt(at + 1)}\``
  }
  if (letter === "\n" || letter === "\r") {
    return 'a text ends on its line: write a line break in it as `\\n`, or its `"` is missing'
  }
  return letter === "\t" ? "write a tab within a text as `\\t`" : "a control character is in a text"
}

function describeLetter(text: string, { at, expected, open }: Stop): string {
  const letter = text.charAt(at)
  const word = /^[\p{L}_$][\w$.-]*/u.exec(text.slice(at, at + WORD_SHOWN_MAX))?.[0] ?? letter
  if (/^(?:\/\/|\/\*|#)/.test(text.slice(at, at + 2))) return "take out the comment: JSON has none"
  if (/[\p{Z}\p{Cf}]/u.test(letter)) {
    const code = letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")
    return `take out the invisible character (U+${code}), or write a plain space`
  }
  if (expected === "end") return `take out what follows the end of the JSON, from \`${word}\` on`
  if (expected === "colon") return `write \`:\` between a name and its value, and not \`${letter}\``
  if (expected === "comma") return describeNoComma(text, { at, letter, open })
  if (letter === ",") return "take out the comma"
  if (/['‘’“”`]/.test(letter)) return `write \`"\` for \`${letter}\`: JSON has double quotes alone`
  if (expected === "name" || expected === "first name") {
    return word === letter && !/\p{L}/u.test(letter)
      ? `expected a name in double quotes, and there is \`${letter}\``
      : `put the name into double quotes: \`"${word}"\``
  }
  return describeNoValue(text, at, word)
}

function describeNoComma(
  text: string,
  { at, letter, open }: { at: number; letter: string; open: readonly string[] },
): string {
  const closer = CLOSERS[open.at(-1) ?? ""] ?? ""
  if (/[\]}]/.test(letter))
    return `write \`${closer}\` for \`${letter}\`, or close what is within first`
  const isAfterText = text.slice(0, at).endsWith('"')
  if (isAfterText) return 'the text ends before it: write a quote within a text as `\\"`'
  if (letter === '"') return "a comma is missing before it"
  return /[\w{[]/.test(letter)
    ? "a comma is missing before it"
    : `expected a comma or \`${closer}\`, and there is \`${letter}\``
}

function describeNoValue(text: string, at: number, word: string): string {
  const known = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : undefined
  if (known !== undefined) return `write \`${known}\` for \`${word}\``
  if (text.startsWith("...", at)) return "write a value in the place of `...`"
  const number = /^[+-]?\.?[\d.][\w.]*/.exec(text.slice(at, at + WORD_SHOWN_MAX))?.[0]
  if (number !== undefined) {
    return `\`${number}\` is no number of JSON: write it as \`5\` or \`0.5\`, or as a text in double quotes`
  }
  const placeholder = /^(?:<[^>]*>|\$\{?\w*\}?|\{\{\w*\}?\}?|…)/.exec(
    text.slice(at, at + WORD_SHOWN_MAX),
  )
  if (placeholder) return `write a value in the place of \`${placeholder[0]}\``
  if (/^[\p{L}_]/u.test(word)) return `put the text into double quotes: it begins at \`${word}\``
  return `a value is missing: expected a text in double quotes, a number, an object or a list, and there is \`${word}\``
}
