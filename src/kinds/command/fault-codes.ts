import type { Fault } from "../../faults.ts"
import type { RefusalCode } from "./policy/refusal.ts"

/** Codes of faults that only a command has, those of the command policy included. */
export type FaultCode =
  | RefusalCode
  | "invalid_field"
  | "invalid_name"
  | "name_taken"
  | "unused_output"
  | "not_ffmpeg"
  | "empty_command"
  | "unreadable_command"
  | "too_many_words"
  | "seek_behind_end"

/** A fault of a command, with its code. */
export type CommandFault = Fault & { code: FaultCode }
