import { z } from "zod"

/**
 * Reason code of a failed job or file, which callers receive as `error_code`. A filter graph file
 * is checked only during the run. If the check refuses the file, the command fails with the code of
 * the refusal.
 */
export const failureCodeSchema = z.enum([
  "canceled",
  "codec_not_allowed",
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
  "filter_not_allowed",
  "filter_option_not_allowed",
  "format_not_allowed",
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
  "name_not_allowed",
  "no_audio",
  "no_output",
  "no_video",
  "not_a_file",
  "not_found",
  "option_not_allowed",
  "out_of_memory",
  "output_limit",
  "overwrites_input",
  "path_not_allowed",
  "playlist_not_supported",
  "probe_failed",
  "process_limit",
  "protocol_not_allowed",
  "rate_limited_by_site",
  "runner_lost",
  "secrets_lost",
  "server_error",
  "site_changed",
  "stdio_not_allowed",
  "stream_not_found",
  "time_limit",
  "too_complex",
  "too_large",
  "too_many_redirects",
  "too_slow",
  "unsupported_site",
  "url_not_allowed",
  "value_not_allowed",
])

export type FailureCode = z.infer<typeof failureCodeSchema>

const MESSAGE_LENGTH_MAX = 1000
const LINE_LENGTH_MAX = 2000
const LINES_MAX = 50
const LINES_LENGTH_MAX = 20_000

/**
 * Failure of a task. `code` is for programs, and `message` is a sentence for people. `lines` is the
 * last output of the tool, without paths of the machine. The schema cuts long values, so that every
 * failure can be reported.
 */
export const failureSchema = z.object({
  code: failureCodeSchema,
  message: z
    .string()
    .min(1)
    .transform((text) => text.slice(0, MESSAGE_LENGTH_MAX)),
  lines: z.array(z.string()).transform(lastLines),
})

/** Returns the last lines of a tool's output that fit into the size limits of a failure report. */
function lastLines(lines: string[]): string[] {
  let length = 0
  const cut = lines.slice(-LINES_MAX).map((line) => line.slice(0, LINE_LENGTH_MAX))
  const fromEnd = cut.toReversed()
  const fitting = fromEnd.findIndex((line) => (length += line.length) > LINES_LENGTH_MAX)
  return (fitting === -1 ? fromEnd : fromEnd.slice(0, fitting)).toReversed()
}

export type Failure = z.infer<typeof failureSchema>

/**
 * Party that caused a failed attempt. A failure that the caller caused is not retried. A failure of
 * the service (`ours`) is retried.
 */
export const blameSchema = z.enum(["caller", "ours"])
export type Blame = z.infer<typeof blameSchema>
