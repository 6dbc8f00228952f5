import { z } from "zod"
import { outputReportSchema } from "../report.ts"
import { hasHeadersFieldSchema, taskOutputSchema, taskWarningsSchema } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

export const FETCH_QUALITIES = [
  "best",
  "2160p",
  "1440p",
  "1080p",
  "720p",
  "480p",
  "360p",
  "audio",
] as const

export const FETCH_AUDIO_FORMATS = ["m4a", "mp3", "opus", "flac", "wav"] as const

/** Maximum number of subtitle languages of one fetch. */
export const SUBTITLE_LANGUAGES_MAX = 10

/**
 * Output key of the fetched media. The output keys of subtitles are `subtitles_1` and so on, in the
 * order of the request.
 */
export const FETCHED_MEDIA_OUTPUT_KEY = "media"

export function makeSubtitlesOutputKey(index: number): string {
  return `subtitles_${index + 1}`
}

/**
 * Output of a fetch. The result contains the file name, because the name is known only after the
 * download.
 */
const fetchedOutput = outputReportSchema.extend({ name: z.string().min(1).max(255) })

/**
 * Task that downloads the media of a web page by yt-dlp. If the caller sent headers with the URL,
 * the task downloads the URL as a file.
 */
export const fetchTaskDefinition = {
  name: "fetch",
  pool: () => "fetch",
  downloadsMedia: true,
  tools: ["yt-dlp", "ffmpeg", "ffprobe"],
  work: z.object({
    kind: z.literal("fetch"),
    url: z.url(),
    has_headers: hasHeadersFieldSchema,
    quality: z.enum(FETCH_QUALITIES),
    /**
     * Audio format to convert to, allowed only with the quality `audio`. If the format is absent,
     * the audio keeps its codec.
     */
    audio_format: z.enum(FETCH_AUDIO_FORMATS).optional(),
    /** Languages of the requested subtitles, as BCP-47 tags. */
    subtitles: z.array(z.string()).max(SUBTITLE_LANGUAGES_MAX),
    /** Section of the media to fetch, from `start` to `end` in seconds. */
    start: z.number().nonnegative().optional(),
    end: z.number().positive().optional(),
    /** Maximum size of the media, in bytes. */
    bytes_max: z.int().positive(),
    run_seconds_max: z.int().positive(),
    outputs: z.array(taskOutputSchema).min(1),
  }),
  result: z.object({
    kind: z.literal("fetch"),
    title: z.string().max(1000).nullable(),
    duration_seconds: z.number().nonnegative().nullable(),
    media: fetchedOutput,
    subtitles: z
      .array(fetchedOutput.extend({ language: z.string().max(100) }))
      .max(SUBTITLE_LANGUAGES_MAX),
    warnings: taskWarningsSchema,
  }),
} as const satisfies TaskDefinition

export type FetchWork = z.infer<typeof fetchTaskDefinition.work>
export type FetchResult = z.infer<typeof fetchTaskDefinition.result>
