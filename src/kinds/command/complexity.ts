import type { CommandFault } from "../../domain/faults.ts"

/** Text of a command, with its field in the request. */
type Text = { field: string; text: string }

/**
 * Maximum number of separators (of words, filters, options, labels, quotes) in all commands of a
 * request.
 */
const PARTS_MAX = 20_000
const PART = /\s+|[,;:|=['"\\]/g

/**
 * Returns a fault if commands would take too long to check, in the field of the largest command.
 * Counts separators instead of time, because a Worker's clock stands still during computation.
 */
export function findComplexityFault(texts: readonly Text[]): CommandFault | null {
  const counts = texts.map(({ text }) => text.match(PART)?.length ?? 0)
  const sum = counts.reduce((total, count) => total + count, 0)
  if (sum <= PARTS_MAX) return null
  const largest = counts.indexOf(Math.max(...counts))
  const whole = texts.length === 1 ? "the command has" : "the commands have"
  const message = `${whole} ${sum} words, filters, options, labels and quotes; expected at most ${PARTS_MAX} in a request, so split the work into several requests`
  return { field: texts[largest]?.field ?? "", code: "too_complex", message }
}
