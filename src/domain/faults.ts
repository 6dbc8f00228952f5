import { failureCodeSchema } from "../contract/failure.ts"
import type { FailureCode } from "../contract/failure.ts"
import { COMMAND_REFUSAL_CODES } from "../contract/refusal-codes.ts"

/** Codes of all faults (mistakes in a request) for which an FFmpeg command is refused. */
const COMMAND_FAULT_CODES = [
  ...COMMAND_REFUSAL_CODES,
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

const REQUEST_FAULT_CODES = [
  ...COMMAND_FAULT_CODES,
  "chain_too_long",
  "circular_input",
  "fetch_not_an_input",
  "invalid_reference",
  "no_such_file",
  "no_such_job",
  "no_such_output",
  "series_as_input",
  "transcript_not_an_input",
] as const

/**
 * Codes of faults (mistakes in a request): of a command, of a reference to an input, and of a run
 * that is certain to fail.
 */
export type FaultCode = (typeof REQUEST_FAULT_CODES)[number] | FailureCode

/** Fault codes of requests that are not also failure codes of jobs. */
export const FAULT_CODES_OF_REQUESTS_ONLY = REQUEST_FAULT_CODES.filter(
  (code) => !failureCodeSchema.safeParse(code).success,
)

/**
 * Fault: a mistake in one field of a request. The message states the expected value. A fault of a
 * command also has a code, and the FFmpeg option that is wrong.
 */
export type Fault = { field: string; message: string; option?: string; code?: FaultCode }

export type CommandFaultCode = (typeof COMMAND_FAULT_CODES)[number]

/** Fault of a command, which always has a code, unlike other faults. */
export type CommandFault = Fault & { code: CommandFaultCode }
