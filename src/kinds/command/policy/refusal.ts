import { cutText } from "../../../cut-text.ts"

/** Every reason for which a command is refused by what it says. */
export const REFUSAL_CODES = [
  "option_not_allowed",
  "value_not_allowed",
  "missing_value",
  "trailing_option",
  "filter_not_allowed",
  "filter_option_not_allowed",
  "format_not_allowed",
  "codec_not_allowed",
  "url_not_allowed",
  "protocol_not_allowed",
  "path_not_allowed",
  "stdio_not_allowed",
  "name_not_allowed",
  "overwrites_input",
  "no_output",
  "too_many_inputs",
  "too_many_outputs",
  "too_complex",
  "invalid_option",
  "encoder_not_found",
  "decoder_not_found",
  "filter_error",
  "stream_not_found",
  "endless_input",
  "unknown_key",
] as const

export type RefusalCode = (typeof REFUSAL_CODES)[number]

/** One thing that a command may not say: the option that says it, and what to do instead. */
export type Refusal = { code: RefusalCode; message: string; option?: string }

/** More would tell a caller nothing, and each takes its time to be worded. */
export const REFUSALS_MAX = 100

/** What is wrong with some things, `REFUSALS_MAX` faults at most; the rest is not looked at then. */
export function firstFaults<Thing, Fault>(
  things: Iterable<Thing>,
  judge: (thing: Thing) => readonly Fault[],
): Fault[] {
  const faults: Fault[] = []
  for (const thing of things) {
    faults.push(...judge(thing))
    if (faults.length >= REFUSALS_MAX) break
  }
  return faults.slice(0, REFUSALS_MAX)
}

/** Why something is not allowed, and what to do instead: halves of one sentence. */
export type Reason = { why: string; instead: string }

/** Names for which one reason holds, separated by spaces. */
export type ReasonFor = Reason & { names: string }

/** The reasons by name. */
export function byName(groups: readonly ReasonFor[]): ReadonlyMap<string, Reason> {
  return new Map(
    groups.flatMap(({ names, why, instead }) =>
      names.split(" ").map((name) => [name, { why, instead }] as const),
    ),
  )
}

/** A value as a message shows it: short, in quotes. */
export function quote(value: string): string {
  return `"${cutText(value, 80)}"`
}
