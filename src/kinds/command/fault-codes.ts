import type { Fault } from "../../faults.ts"
import { REFUSAL_CODES } from "./policy/refusal.ts"

/** Codes of faults that only a command has, those of the command policy included. */
export const COMMAND_FAULT_CODES = [
  ...REFUSAL_CODES,
  "invalid_field",
  "invalid_name",
  "name_taken",
  "unused_output",
  "not_ffmpeg",
  "empty_command",
  "unreadable_command",
  "too_many_words",
  "seek_behind_end",
] as const

export type FaultCode = (typeof COMMAND_FAULT_CODES)[number]

/** A fault of a command, with its code. */
export type CommandFault = Fault & { code: FaultCode }
