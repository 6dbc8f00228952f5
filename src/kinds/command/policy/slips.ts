import { quote } from "./refusal.ts"
import type { Refusal } from "./refusal.ts"

/** Whole words that a shell or a text editor made, or that one was to read: why, and what instead. */
const SLIPS: readonly (Pick<Refusal, "code"> & {
  words: RegExp
  said: (word: string) => string
})[] = [
  {
    code: "value_not_allowed",
    words: /^\$(?:\w+|\{\w+\})$|^%[A-Za-z_]\w*%$/,
    said(word) {
      const name = word.replace(/\W/g, "")
      const instead = /^(?:in|out)(?:put)?_?\w*$/i.test(name)
        ? `write a key in two braces, as ${keyOf(name)}`
        : "write the value itself"
      return `no shell reads this, so that it would stay as it is; ${instead}`
    },
  },
  {
    code: "value_not_allowed",
    words:
      /^["'\u2018-\u201f\u00ab\u00bb]*\{\s*\w+\s*\}$|^\{\{\w+\}$|^\{\w+\}\}$|^\{\{\{\w+\}\}\}$/,
    said: (word) => `a key stands in two braces; write it as ${keyOf(word.replace(/\W/g, ""))}`,
  },
  {
    code: "name_not_allowed",
    words: /^[\u2018-\u201f\u00ab\u00bb]/,
    said: () => "these quotes are letters here, as a text editor makes them; quote with ' or \"",
  },
]

/** Words that cannot mean what was meant. */
export function checkSlips(words: readonly string[]): Refusal[] {
  return words.flatMap((word, index) => {
    const slip = SLIPS.find(({ words: pattern }) => pattern.test(word))
    if (!slip) return []
    const before = words[index - 1] ?? ""
    const option = /^-[a-z]/i.test(before) ? { option: before } : {}
    return [{ code: slip.code, message: `${quote(word)}: ${slip.said(word)}`, ...option }]
  })
}

/** A name in the braces of a key; words that say no key stand for the first one. */
function keyOf(name: string): string {
  if (/^(?:in|out)_\w+$/.test(name)) return `{{${name}}}`
  return /^out/i.test(name) ? "{{out_1}}" : "{{in_1}}"
}
