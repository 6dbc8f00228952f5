import type { CommandFault } from "../../domain/faults.ts"

/** Text of a command, and the request field that holds the text. */
export type CommandFieldText = { field: string; text: string }

/**
 * Maximum number of separators in all commands of a request. Separators are spaces, commas,
 * semicolons, quotes and other characters between words, filters, options and labels.
 */
const PARTS_MAX = 20_000
const PART = /\s+|[,;:|=['"\\]/g

/**
 * Returns a fault if the commands of a request would take too long to check. The fault names the
 * field of the largest command. The check counts separators instead of time, because a Worker's
 * clock stands still during computation.
 */
export function findComplexityFault(texts: readonly CommandFieldText[]): CommandFault | null {
  const counts = texts.map(({ text }) => text.match(PART)?.length ?? 0)
  const sum = counts.reduce((total, count) => total + count, 0)
  if (sum <= PARTS_MAX) return null
  const largest = counts.indexOf(Math.max(...counts))
  const whole = texts.length === 1 ? "the command has" : "the commands have"
  const message = `${whole} ${sum} words, filters, options, labels and quotes; expected at most ${PARTS_MAX} in a request, so split the work into several requests`
  return { field: texts[largest]?.field ?? "", code: "too_complex", message }
}
