import { cutText } from "../contract/cut-text.ts"

/** Hint for a caller: the pattern of a mistake, and the sentence with the correction. */
export type Hint = readonly [pattern: RegExp, sentence: string]

const SHOWN_LENGTH_MAX = 120

/**
 * Returns the sentence of the first hint whose pattern matches a text; null without a match. A
 * pattern with the flag `y` must match at the index `at`. In the sentence, `$&` is replaced by the
 * match, `$1` by the first group, and `$name` by the entry `name` of `values`.
 */
export function findHint(
  text: string,
  hints: readonly Hint[],
  { at = 0, values = {} }: { at?: number; values?: Record<string, string> } = {},
): string | null {
  for (const [pattern, sentence] of hints) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) return fill(sentence, match, values)
  }
  return null
}

function fill(sentence: string, match: RegExpExecArray, values: Record<string, string>): string {
  return sentence.replace(/\$(&|\d|[a-z]+)/g, (whole, name: string) => {
    const group = name === "&" ? match[0] : match[Number(name)]
    return group === undefined ? (values[name] ?? whole) : cutText(group, SHOWN_LENGTH_MAX)
  })
}

/**
 * Quotes a caller's text for an error message: in backticks, or in double quotes if the text
 * contains a backtick.
 */
export function quoteForMessage(text: string): string {
  const short = cutText(text, SHOWN_LENGTH_MAX)
  return short.includes("`") ? `"${short}"` : `\`${short}\``
}

/** Builds a map from aliases to values. Each row has aliases, separated by spaces, and a value. */
export function buildAliasMap<Written>(
  rows: readonly (readonly [names: string, written: Written])[],
): Map<string, Written> {
  return new Map(
    rows.flatMap(([names, written]) => names.split(" ").map((name) => [name, written] as const)),
  )
}
