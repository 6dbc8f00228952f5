import type { RefusalCode } from "../../contract/command-policy/refusal.ts"
import type { Detail } from "../../http/problem.ts"

/** Every code by which an error of a command may be told, those of the command policy included. */
export type ErrorCode =
  | RefusalCode
  | "invalid_field"
  | "invalid_reference"
  | "invalid_name"
  | "name_taken"
  | "no_such_file"
  | "unknown_key"
  | "unused_output"
  | "not_ffmpeg"
  | "empty_command"
  | "unreadable_command"
  | "too_many_words"

/** An error of a command, with its code. */
export type CommandDetail = Detail & { code: ErrorCode }

/** The codes of errors that name none themselves, by field and message; the first that fits. */
const CODES: readonly (readonly [field: RegExp, message: RegExp, code: ErrorCode])[] = [
  [/^input_files\./, /^there is no such file$/, "no_such_file"],
  [/^input_files\./, /./, "invalid_reference"],
  [/^output_files\./, /^another file of this command|is the key of an input too$/, "name_taken"],
  [/^output_files\./, /./, "invalid_name"],
  [/./, /./, "invalid_field"],
]

/** An error with its code. */
export function withCode(detail: Detail): Detail {
  if (detail.code !== undefined) return detail
  const { field, message } = detail
  const code = CODES.find(([named, said]) => named.test(field) && said.test(message))?.[2]
  return { ...detail, code: code ?? "invalid_field" }
}
