import { cutText } from "../cut-text.ts"

/** A mistake: how a text looks that has it, and the sentence that says what to write instead. */
export type Hint = readonly [looks: RegExp, says: string]

const SHOWN_LENGTH_MAX = 120

/**
 * The sentence of the first hint whose pattern a text matches, a sticky pattern from `at` on; null where
 * none does. `$&` in a sentence is the match, `$1` its first group, and `$name` one of `named`.
 */
export function findHint(
  text: string,
  hints: readonly Hint[],
  { at = 0, named = {} }: { at?: number; named?: Record<string, string> } = {},
): string | null {
  for (const [looks, says] of hints) {
    looks.lastIndex = at
    const match = looks.exec(text)
    if (match) return fill(says, match, named)
  }
  return null
}

function fill(says: string, match: RegExpExecArray, named: Record<string, string>): string {
  return says.replace(/\$(&|\d|[a-z]+)/g, (whole, name: string) => {
    const group = name === "&" ? match[0] : match[Number(name)]
    return group === undefined ? (named[name] ?? whole) : cutText(group, SHOWN_LENGTH_MAX)
  })
}

/** A caller's text as a sentence shows it: in backticks, or in quotes where it holds a backtick. */
export function shown(text: string): string {
  const short = cutText(text, SHOWN_LENGTH_MAX)
  return short.includes("`") ? `"${short}"` : `\`${short}\``
}

/** A table of what people call something, names with blanks between, and how each is written here. */
export function aliases<Written>(
  rows: readonly (readonly [names: string, written: Written])[],
): Map<string, Written> {
  return new Map(
    rows.flatMap(([names, written]) => names.split(" ").map((name) => [name, written] as const)),
  )
}
