import { z } from "zod"

/** What is odd about work that succeeded, as callers read it in `warnings`. */
export const warningCode = z.enum([
  "empty_stream",
  "format_changed",
  "input_damaged",
  "no_speech",
  "shorter_than_expected",
  "silent",
  "subtitles_not_found",
  "target_not_reached",
  "too_short",
])

/** One thing that its caller should look at: `code` for programs, one sentence for people. */
export const warning = z.object({ code: warningCode, message: z.string().min(1).max(1000) })

export type Warning = z.infer<typeof warning>

/** A task reports at most so many; more would tell a caller nothing. */
export const WARNINGS_MAX = 20
