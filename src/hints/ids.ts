import { EXAMPLE_ID } from "../ids.ts"
import { findHint, shown } from "./hint-table.ts"
import type { Hint } from "./hint-table.ts"

/** Words in the place of an id; `$title` is the kind of record, and `$example` an id. */
const NO_IDS: readonly Hint[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i, "write the id alone: `$&`"],
  [
    /^(?:undefined|null|none|nan|id|uuid|\[object \w+\]|[{<:$%].*)$/i,
    "`$&` stands where the id of the $title is to be, as in `$example`",
  ],
  [/^[0-9a-f]{32}$/i, "an id is written with its four dashes"],
  [/^[0-9a-f]{6,}-[0-9a-f-]+$/i, "copy the id whole: one has 36 characters, and `$&` has $length"],
]

/** The reason why a word is no id of a `title`, and what to write. */
export function describeNoId(title: string, word: string): string {
  const named = { title, example: EXAMPLE_ID, length: `${word.length}` }
  return findHint(word, NO_IDS, { named }) ?? `${shown(word)} is no id: one is as \`${EXAMPLE_ID}\``
}
