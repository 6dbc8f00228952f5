import { z } from "zod"

/** Codes of the warnings that a record lists in `warnings`. */
export const warningCodeSchema = z.enum([
  "binary_stdout",
  "empty_stream",
  "format_changed",
  "input_damaged",
  "no_speech",
  "not_media",
  "same_rendition",
  "shorter_than_expected",
  "silent",
  "subtitles_not_found",
  "target_not_reached",
  "too_short",
  "unused_input",
])

/** Warning for the caller. `code` is for programs, and `message` is a sentence for people. */
export const warningSchema = z.object({
  code: warningCodeSchema,
  message: z.string().min(1).max(1000),
})

export type Warning = z.infer<typeof warningSchema>

/** Warning about a file that is not media. */
export const NOT_MEDIA_WARNING: Warning = {
  code: "not_media",
  message:
    "ffprobe finds no media in the file, so that its `ffprobe` is null. Commands take the file as an input all the same.",
}

/** Maximum number of warnings in the result of a task. */
export const TASK_WARNINGS_MAX = 20
