import { z } from "zod"
import { outputReportSchema } from "../report.ts"
import { taskOutputSchema, taskWarningsSchema } from "../task.ts"
import { whisperLanguageCodeSchema } from "../whisper-languages.ts"
import type { TaskDefinition } from "./definition.ts"

/**
 * Formats in which every transcript is written. The output key of a transcript is its file
 * extension.
 */
export const TRANSCRIPT_FORMATS = ["json", "srt", "vtt", "txt"] as const

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number]

/** Media types of transcript files. All transcripts are encoded in UTF-8. */
export const TRANSCRIPT_MEDIA_TYPES: Readonly<Record<TranscriptFormat, string>> = {
  json: "application/json",
  srt: "application/x-subrip",
  vtt: "text/vtt",
  txt: "text/plain; charset=utf-8",
}

export const WHISPER_TASKS = ["transcribe", "translate"] as const

export const WHISPER_PROMPT_LENGTH_MAX = 1000
export const WORDS_PER_CUE_MAX = 50
export const CAPTION_LINE_LENGTH_MIN = 10
export const CAPTION_LINE_LENGTH_MAX = 120

/** Maximum length of the transcript's text in a report, in characters. */
const TEXT_LENGTH_MAX = 2_000_000

/** Returns the output name of a transcript format, such as `transcript.srt`. */
export function transcriptFileName(format: TranscriptFormat): string {
  return `transcript.${format}`
}

/** Task that transcribes the speech of the input by whisper. */
export const transcribeTaskDefinition = {
  name: "transcribe",
  pool: () => "speech",
  tools: ["whisper", "ffmpeg", "ffprobe"],
  work: z.object({
    kind: z.literal("transcribe"),
    /** Name of a speech model of the deployment. */
    model: z.string().min(1),
    /** Language code of Whisper for the speech, or `auto` to detect the language. */
    language: z.union([whisperLanguageCodeSchema, z.literal("auto")]),
    /** Language of the request as a BCP-47 tag. */
    language_tag: z.string().max(100).optional(),
    /**
     * Operation of whisper. `transcribe` keeps the spoken language, and `translate` writes English.
     */
    task: z.enum(WHISPER_TASKS),
    /** Words that the speech is likely to contain, such as names. */
    prompt: z.string().max(WHISPER_PROMPT_LENGTH_MAX).optional(),
    words_per_cue: z.int().positive().max(WORDS_PER_CUE_MAX).optional(),
    max_line_length: z.int().min(CAPTION_LINE_LENGTH_MIN).max(CAPTION_LINE_LENGTH_MAX).optional(),
    run_seconds_max: z.int().positive(),
    /** Outputs of the transcription, one for each format. */
    outputs: z.array(taskOutputSchema).length(TRANSCRIPT_FORMATS.length),
  }),
  result: z.object({
    kind: z.literal("transcribe"),
    outputs: z.array(outputReportSchema).length(TRANSCRIPT_FORMATS.length),
    /**
     * Whisper's code of the language; null if the audio contains no speech and the request names no
     * language.
     */
    language: whisperLanguageCodeSchema.nullable(),
    duration_seconds: z.number().nonnegative(),
    text: z.string().transform((text) => text.slice(0, TEXT_LENGTH_MAX)),
    warnings: taskWarningsSchema,
  }),
} as const satisfies TaskDefinition

export type TranscribeWork = z.infer<typeof transcribeTaskDefinition.work>
export type TranscribeResult = z.infer<typeof transcribeTaskDefinition.result>
