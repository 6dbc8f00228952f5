import { z } from "zod"

/** Why a job or a file failed, as callers read it in `error_code`. */
export const failureCode = z.enum([
  "canceled",
  "command_failed",
  "cpu_limit",
  "decoder_not_found",
  "disk_full",
  "disk_limit",
  "encoder_not_found",
  "expired",
  "file_limit",
  "filter_error",
  "input_deleted",
  "input_failed",
  "inputs_too_large",
  "internal",
  "invalid_input",
  "invalid_option",
  "no_output",
  "out_of_memory",
  "output_limit",
  "probe_failed",
  "process_limit",
  "runner_lost",
  "stream_not_found",
  "time_limit",
])

export type FailureCode = z.infer<typeof failureCode>

/**
 * One failure with its three faces: `code` for programs, `message` (one sentence) for people,
 * `lines` with the tool's own words (at most 50, no paths of the machine).
 */
export const failure = z.object({
  code: failureCode,
  message: z.string().min(1).max(1000),
  lines: z.array(z.string().max(2000)).max(50),
})

export type Failure = z.infer<typeof failure>

/** Whose fault a failed attempt is: the caller's is final, the others are tried again. */
export const blame = z.enum(["caller", "ours"])
export type Blame = z.infer<typeof blame>
