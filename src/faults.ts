import type { FailureCode } from "./contract/failure.ts"
import type { FaultCode as CommandFaultCode } from "./kinds/command/fault-codes.ts"

/**
 * Codes of faults: of commands, of references to inputs, and what a look at them, or at a URL, would
 * have failed with as a job.
 */
export type FaultCode =
  | CommandFaultCode
  | FailureCode
  | "fetch_not_an_input"
  | "invalid_reference"
  | "no_such_file"
  | "series_as_input"
  | "transcript_not_an_input"

/**
 * What is wrong with one field of a request, and what was expected of it; in a command also the
 * option at fault, and a code that programs can tell it by.
 */
export type Fault = { field: string; message: string; option?: string; code?: FaultCode }
