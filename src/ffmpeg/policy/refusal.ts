import { cutText } from "../../contract/cut-text.ts"
import type { CommandRefusalCode } from "../../contract/refusal-codes.ts"

/**
 * Refusal of a part of an ffmpeg command: the code, the message with the remedy, and the refused
 * option if there is one.
 */
export type CommandRefusal = { code: CommandRefusalCode; message: string; option?: string }

/**
 * Maximum number of refusals in the answer to a request. More refusals would not help the caller
 * and take time to compute.
 */
export const COMMAND_REFUSALS_MAX = 100

/** Collects the faults of items in order; stops at `COMMAND_REFUSALS_MAX` faults. */
export function collectFaults<Item, Fault>(
  items: Iterable<Item>,
  judge: (item: Item) => readonly Fault[],
): Fault[] {
  const faults: Fault[] = []
  for (const item of items) {
    faults.push(...judge(item))
    if (faults.length >= COMMAND_REFUSALS_MAX) break
  }
  return faults.slice(0, COMMAND_REFUSALS_MAX)
}

/**
 * Reason to refuse a name, such as the name of a filter. `why` is the reason and `instead` is the
 * remedy; both are clauses of one sentence.
 */
export type RefusalReason = { why: string; instead: string }

/**
 * Refusal reason that applies to several names. `names` contains the names, separated by spaces.
 */
export type RefusalReasonGroup = RefusalReason & { names: string }

/** Returns a map from each refused name to its refusal reason. */
export function indexRefusalReasonsByName(
  groups: readonly RefusalReasonGroup[],
): ReadonlyMap<string, RefusalReason> {
  return new Map(
    groups.flatMap(({ names, why, instead }) =>
      names.split(" ").map((name) => [name, { why, instead }] as const),
    ),
  )
}

/** Quotes a value for a message. Cuts the value to 80 characters. */
export function quoteShortenedValue(value: string): string {
  return `"${cutText(value, 80)}"`
}
