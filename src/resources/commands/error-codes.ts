import type { RefusalCode } from "../../contract/command-policy/refusal.ts"
import type { Detail } from "../../http/problem.ts"

/** Every code by which an error of a command may be told, those of the command policy included. */
export type ErrorCode =
  | RefusalCode
  | "invalid_field"
  | "invalid_reference"
  | "fetch_not_an_input"
  | "invalid_name"
  | "name_taken"
  | "no_such_file"
  | "series_as_input"
  | "unknown_key"
  | "unused_output"
  | "not_ffmpeg"
  | "empty_command"
  | "unreadable_command"
  | "too_many_words"

/** An error of a command, with its code. */
export type CommandDetail = Detail & { code: ErrorCode }
