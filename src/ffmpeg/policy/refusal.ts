import { cutText } from "../../contract/cut-text.ts"
import type { RefusalCode } from "../../contract/refusal-codes.ts"

/** Refusal of a part of a command: code, message with the remedy, and the option if any. */
export type Refusal = { code: RefusalCode; message: string; option?: string }

/** Maximum number of refusals for a request: more would not help, and each takes time to make. */
export const REFUSALS_MAX = 100

/** Collects the faults of items in order; stops at `REFUSALS_MAX` faults. */
export function collectFaults<Item, Fault>(
  items: Iterable<Item>,
  judge: (item: Item) => readonly Fault[],
): Fault[] {
  const faults: Fault[] = []
  for (const item of items) {
    faults.push(...judge(item))
    if (faults.length >= REFUSALS_MAX) break
  }
  return faults.slice(0, REFUSALS_MAX)
}

/** Reason to refuse a name, such as that of a filter, and the remedy: clauses of one sentence. */
export type RefusalReason = { why: string; instead: string }

/** Refusal reason that applies to several names, separated by spaces. */
export type RefusalReasonGroup = RefusalReason & { names: string }

/** Indexes refusal reasons by each of their names. */
export function indexReasons(
  groups: readonly RefusalReasonGroup[],
): ReadonlyMap<string, RefusalReason> {
  return new Map(
    groups.flatMap(({ names, why, instead }) =>
      names.split(" ").map((name) => [name, { why, instead }] as const),
    ),
  )
}

/** Quotes a value for a message, cut to 80 characters. */
export function quoteValue(value: string): string {
  return `"${cutText(value, 80)}"`
}
