import { EXAMPLE_ID } from "../platform/ids.ts"
import { findHint, quoteForMessage } from "./hint-table.ts"
import type { Hint } from "./hint-table.ts"

/**
 * Hints for words that are not ids. In a hint, `$title` is the kind of record, and `$example` is a
 * valid id.
 */
const NO_IDS: readonly Hint[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i, "write the id alone: `$&`"],
  [
    /^(?:undefined|null|none|nan|id|uuid|\[object \w+\]|[{<:$%].*)$/i,
    "`$&` is not the id of a $title, such as `$example`",
  ],
  [/^[0-9a-f]{32}$/i, "write the id with its four dashes"],
  [
    /^[0-9a-f]{6,}-[0-9a-f-]+$/i,
    "copy the whole id: an id has 36 characters, and `$&` has $length",
  ],
]

/**
 * Returns the reason why a word is not the id of a record of the kind `title`, with the correction.
 */
export function describeMalformedId(title: string, word: string): string {
  const values = { title, example: EXAMPLE_ID, length: `${word.length}` }
  return (
    findHint(word, NO_IDS, { values }) ??
    `${quoteForMessage(word)} is not an id; an id looks like \`${EXAMPLE_ID}\``
  )
}
