import { z } from "zod"
import { outputReport } from "../report.ts"
import { taskOutput, taskWarnings } from "../task.ts"
import { languageCode } from "../whisper-languages.ts"
import type { TaskDefinition } from "./definition.ts"

/** What is written of every transcript: the key of each output is its extension. */
export const TRANSCRIPT_FORMATS = ["json", "srt", "vtt", "txt"] as const

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number]

/** Media types of transcripts, all of which are UTF-8. */
export const TRANSCRIPT_MEDIA_TYPES: Readonly<Record<TranscriptFormat, string>> = {
  json: "application/json",
  srt: "application/x-subrip",
  vtt: "text/vtt",
  txt: "text/plain; charset=utf-8",
}

export const SPEECH_TASKS = ["transcribe", "translate"] as const

export const PROMPT_LENGTH_MAX = 1000
export const WORDS_PER_CUE_MAX = 50
export const LINE_LENGTH_MIN = 10
export const LINE_LENGTH_MAX = 120

/** The most characters of a transcript that a report carries. */
const TEXT_LENGTH_MAX = 2_000_000

/** Name of the output of a format. */
export function transcriptName(format: TranscriptFormat): string {
  return `transcript.${format}`
}

/** Writes down what is said in the one input, by whisper. */
export const transcribeTask = {
  name: "transcribe",
  pool: () => "speech",
  tools: ["whisper", "ffmpeg", "ffprobe"],
  work: z.object({
    kind: z.literal("transcribe"),
    /** Name of one of the deployment's models. */
    model: z.string().min(1),
    /** Whisper's code of the language that is spoken; `auto` finds it. */
    language: z.union([languageCode, z.literal("auto")]),
    /** How the caller names that language (BCP-47). */
    language_tag: z.string().max(100).optional(),
    /** `translate` writes English, whatever is spoken. */
    task: z.enum(SPEECH_TASKS),
    /** Words that may be heard, such as names. */
    prompt: z.string().max(PROMPT_LENGTH_MAX).optional(),
    words_per_cue: z.int().positive().max(WORDS_PER_CUE_MAX).optional(),
    max_line_length: z.int().min(LINE_LENGTH_MIN).max(LINE_LENGTH_MAX).optional(),
    run_seconds_max: z.int().positive(),
    /** One of each format. */
    outputs: z.array(taskOutput).length(TRANSCRIPT_FORMATS.length),
  }),
  result: z.object({
    kind: z.literal("transcribe"),
    outputs: z.array(outputReport).length(TRANSCRIPT_FORMATS.length),
    /** Whisper's code; null where nothing was said and none was asked for. */
    language: languageCode.nullable(),
    duration_seconds: z.number().nonnegative(),
    text: z.string().transform((text) => text.slice(0, TEXT_LENGTH_MAX)),
    warnings: taskWarnings,
  }),
} as const satisfies TaskDefinition

export type TranscribeWork = z.infer<typeof transcribeTask.work>
export type TranscribeResult = z.infer<typeof transcribeTask.result>
