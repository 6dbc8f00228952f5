import { distance } from "fastest-levenshtein"

/** Maximum length of a misspelled name; longer words match no name. */
const LENGTH_MAX = 64

/**
 * Returns the name that a word most likely misspells; null if no name is similar. At most a third
 * of the letters differ, and at most `editsMax` letters. Case, `-` and `_` do not count; two
 * swapped letters count as one edit.
 */
export function findNearestName(
  word: string,
  names: Iterable<string>,
  editsMax = Number.POSITIVE_INFINITY,
): string | null {
  if (word.length > LENGTH_MAX) return null
  const plain = withoutMarks(word)
  let nearest: string | null = null
  let least = Math.min(editsMax, Math.max(1, Math.floor(plain.length / 3))) + 1
  for (const name of names) {
    if (Math.abs(name.length - word.length) > least + 2) continue
    const edits = countEdits(plain, withoutMarks(name))
    if (edits >= least) continue
    least = edits
    nearest = name
  }
  return least < plain.length ? nearest : null
}

/**
 * Returns `; did you mean X?` for the most similar name, formatted by `show`; an empty text if no
 * name is similar.
 */
export function makeDidYouMeanClause(
  word: string,
  names: Iterable<string>,
  show: (name: string) => string = (name) => `\`${name}\``,
): string {
  const name = findNearestName(word, names)
  return name === null ? "" : `; did you mean ${show(name)}?`
}

function withoutMarks(name: string): string {
  const small = name.toLowerCase()
  return /[-_]/.test(small) ? small.replace(/[-_]/g, "") : small
}

/**
 * Counts the edits between two words. The library counts two swapped letters as two edits, but this
 * function counts them as one.
 */
function countEdits(one: string, other: string): number {
  const edits = distance(one, other)
  return edits === 2 && sorted(one) === sorted(other) ? 1 : edits
}

function sorted(word: string): string {
  return word.split("").toSorted().join("")
}
