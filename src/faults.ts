import { failureCode } from "./contract/failure.ts"
import type { FailureCode } from "./contract/failure.ts"
import { COMMAND_FAULT_CODES } from "./kinds/command/fault-codes.ts"

const REQUEST_FAULT_CODES = [
  ...COMMAND_FAULT_CODES,
  "fetch_not_an_input",
  "invalid_reference",
  "no_such_file",
  "series_as_input",
  "transcript_not_an_input",
] as const

/** Codes of faults: of commands, of references to inputs, and failures that are known before a job runs. */
export type FaultCode = (typeof REQUEST_FAULT_CODES)[number] | FailureCode

/** Codes of faults that no job fails with. */
export const DETAIL_CODES = REQUEST_FAULT_CODES.filter(
  (code) => !failureCode.safeParse(code).success,
)

/**
 * What is wrong with one field of a request, and what was expected of it; in a command also the
 * option at fault, and a code that programs can tell it by.
 */
export type Fault = { field: string; message: string; option?: string; code?: FaultCode }
