import { quote } from "./refusal.ts"
import type { Reason, Refusal } from "./refusal.ts"

/** Whole words that a shell or a text editor made, or that one was to read. */
const SLIPS: readonly (Reason & Pick<Refusal, "code"> & { words: RegExp })[] = [
  {
    code: "value_not_allowed",
    words: /^\$(?:\w+|\{\w+\})$|^%[A-Za-z_]\w*%$/,
    why: "no shell reads this, so that it would stay as it is",
    instead: "write the value itself",
  },
  {
    code: "value_not_allowed",
    words: /^["'\u2018-\u201f\u00ab\u00bb]*\{\s*[\w]+\s*\}$/,
    why: "a key stands in two braces",
    instead: "write it as {{in_1}}",
  },
  {
    code: "name_not_allowed",
    words: /^[\u2018-\u201f\u00ab\u00bb]/,
    why: "these quotes are letters here, as a text editor makes them",
    instead: "quote with ' or \"",
  },
]

/** Words that cannot mean what was meant. */
export function checkSlips(words: readonly string[]): Refusal[] {
  return words.flatMap((word, index) => {
    const slip = SLIPS.find(({ words: pattern }) => pattern.test(word))
    if (!slip) return []
    const before = words[index - 1] ?? ""
    const message = `${quote(word)}: ${slip.why}; ${slip.instead}`
    const option = /^-[a-z]/i.test(before) ? { option: before } : {}
    return [{ code: slip.code, message, ...option }]
  })
}
