import { z } from "zod"

/** Why a job or a file failed, as callers read it in `error_code`. */
export const failureCode = z.enum([
  "canceled",
  "command_failed",
  "connection_failed",
  "cpu_limit",
  "decoder_not_found",
  "disk_full",
  "disk_limit",
  "drm_protected",
  "encoder_not_found",
  "expired",
  "file_limit",
  "filter_error",
  "geo_blocked",
  "incomplete",
  "input_deleted",
  "input_failed",
  "inputs_too_large",
  "internal",
  "invalid_input",
  "invalid_option",
  "live_stream",
  "login_required",
  "no_audio",
  "no_output",
  "no_video",
  "not_found",
  "out_of_memory",
  "output_limit",
  "playlist_not_supported",
  "probe_failed",
  "process_limit",
  "rate_limited_by_site",
  "runner_lost",
  "secrets_lost",
  "server_error",
  "site_changed",
  "stream_not_found",
  "time_limit",
  "too_large",
  "too_many_redirects",
  "too_slow",
  "unsupported_site",
  "url_not_allowed",
])

export type FailureCode = z.infer<typeof failureCode>

const MESSAGE_LENGTH_MAX = 1000
const LINE_LENGTH_MAX = 2000
const LINES_MAX = 50
const LINES_LENGTH_MAX = 20_000

/**
 * One failure with its three faces: `code` for programs, `message` (one sentence) for people,
 * `lines` with the tool's own words (at most 50, no paths of the machine). What is longer is cut,
 * since a failure is to be told whatever a tool says of it.
 */
export const failure = z.object({
  code: failureCode,
  message: z
    .string()
    .min(1)
    .transform((text) => text.slice(0, MESSAGE_LENGTH_MAX)),
  lines: z.array(z.string()).transform(lastLines),
})

/** The last lines of a tool, as many as are kept. */
function lastLines(lines: string[]): string[] {
  let length = 0
  const cut = lines.slice(-LINES_MAX).map((line) => line.slice(0, LINE_LENGTH_MAX))
  const fromEnd = cut.toReversed()
  const fitting = fromEnd.findIndex((line) => (length += line.length) > LINES_LENGTH_MAX)
  return (fitting === -1 ? fromEnd : fromEnd.slice(0, fitting)).toReversed()
}

export type Failure = z.infer<typeof failure>

/** Whose fault a failed attempt is: the caller's is final, the others are tried again. */
export const blame = z.enum(["caller", "ours"])
export type Blame = z.infer<typeof blame>
