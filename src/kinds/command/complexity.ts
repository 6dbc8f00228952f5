import type { CommandFault } from "./fault-codes.ts"

/** The text of a command, and the field of the request that it stands in. */
type Text = { field: string; text: string }

/** Characters that the commands of a request may have together. */
const CHARACTERS_MAX = 256 * 1024
/** Signs that begin a word, a filter, an option or a label, of all commands of a request. */
const PARTS_MAX = 20_000
const PART = /\s+|[,;:|=[]/g

/**
 * The fault of commands that take too long to judge, at the longest of them; null where they do not.
 * Sizes are counted, since no clock of a Worker goes on while it computes.
 */
export function findComplexity(texts: readonly Text[]): CommandFault | null {
  const lengths = texts.map(({ text }) => text.length)
  const tooLong = describeExcess(lengths, CHARACTERS_MAX, "characters")
  if (tooLong !== null) return faultOf(texts, lengths, tooLong)
  const parts = texts.map(({ text }) => text.match(PART)?.length ?? 0)
  const tooMany = describeExcess(parts, PARTS_MAX, "words, filters, options and labels")
  return tooMany === null ? null : faultOf(texts, parts, tooMany)
}

function describeExcess(counts: readonly number[], most: number, what: string): string | null {
  const sum = counts.reduce((total, count) => total + count, 0)
  if (sum <= most) return null
  const whole = counts.length === 1 ? "the command has" : "the commands have"
  return `${whole} ${sum} ${what}; expected at most ${most} in a request, so split the work into several requests`
}

/** Puts a fault at the text that counts most. */
function faultOf(texts: readonly Text[], counts: readonly number[], message: string): CommandFault {
  const largest = counts.reduce((at, count, place) => (count > (counts[at] ?? 0) ? place : at), 0)
  return { field: texts[largest]?.field ?? "", code: "too_complex", message }
}
