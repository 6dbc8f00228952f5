const ONES =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  )
const TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split(" ")

/**
 * Returns the word error rate of a transcript: the number of substituted, inserted and deleted
 * words, divided by the number of spoken words. Ignores case, punctuation, hyphens and the spelling
 * of numbers below 100.
 */
export function wordErrorRate(said: string, heard: string): number {
  const reference = normalizeWords(said)
  if (reference.length === 0) throw new Error("nothing was said")
  return editDistance(reference, normalizeWords(heard)) / reference.length
}

/** Returns the words of a text in the form in which they are compared. */
export function normalizeWords(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll(/['’]/g, "")
    .replaceAll(/\b\d{1,2}\b/g, (digits) => spellNumber(Number(digits)))
    .split(/[^\p{Letter}\p{Mark}\p{Number}]+/u)
    .filter((word) => word !== "")
}

function spellNumber(value: number): string {
  const one = ONES[value]
  if (one !== undefined) return one
  const ten = TENS[Math.floor(value / 10)] ?? ""
  return value % 10 === 0 ? ten : `${ten} ${ONES[value % 10]}`
}

/** Returns the Levenshtein distance of two lists of words. */
function editDistance(one: string[], other: string[]): number {
  const first = Array.from({ length: other.length + 1 }, (_, index) => index)
  const last = one.reduce((above, word, row) => {
    const current = [row + 1]
    for (const [column, otherWord] of other.entries()) {
      const substituted = (above[column] ?? 0) + (word === otherWord ? 0 : 1)
      const deleted = (above[column + 1] ?? 0) + 1
      const inserted = (current[column] ?? 0) + 1
      current.push(Math.min(substituted, deleted, inserted))
    }
    return current
  }, first)
  return last.at(-1) ?? 0
}
