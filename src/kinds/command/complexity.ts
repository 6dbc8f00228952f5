import type { CommandFault } from "./fault-codes.ts"

/** The text of a command, and the field of the request that it stands in. */
type Text = { field: string; text: string }

/** Signs that begin a word, a filter, an option, a label or a quote, of all commands of a request. */
const PARTS_MAX = 20_000
const PART = /\s+|[,;:|=['"\\]/g

/**
 * The fault of commands that take too long to judge, at the longest of them; null where they do not.
 * Sizes are counted, since no clock of a Worker goes on while it computes.
 */
export function findComplexity(texts: readonly Text[]): CommandFault | null {
  const counts = texts.map(({ text }) => text.match(PART)?.length ?? 0)
  const sum = counts.reduce((total, count) => total + count, 0)
  if (sum <= PARTS_MAX) return null
  const largest = counts.indexOf(Math.max(...counts))
  const whole = texts.length === 1 ? "the command has" : "the commands have"
  const message = `${whole} ${sum} words, filters, options, labels and quotes; expected at most ${PARTS_MAX} in a request, so split the work into several requests`
  return { field: texts[largest]?.field ?? "", code: "too_complex", message }
}
