import { z } from "zod"
import { outputReport } from "../report.ts"
import { taskOutput, taskWarnings } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

export const QUALITIES = [
  "best",
  "2160p",
  "1440p",
  "1080p",
  "720p",
  "480p",
  "360p",
  "audio",
] as const

export const AUDIO_FORMATS = ["m4a", "mp3", "opus", "flac", "wav"] as const

/** The most languages of subtitles that one fetch may ask for. */
export const SUBTITLES_MAX = 10

/** The output that the media is; subtitles are `subtitles_1` and so on, in the order asked for. */
export const MEDIA_KEY = "media"

export function subtitlesKey(index: number): string {
  return `subtitles_${index + 1}`
}

/** Names of what a fetch made are known at its end. */
const fetchedOutput = outputReport.extend({ name: z.string().min(1).max(255) })

/** Downloads the media of a page by yt-dlp. */
export const fetchTask = {
  name: "fetch",
  pool: () => "fetch",
  bringsIn: true,
  tools: ["yt-dlp", "ffmpeg", "ffprobe"],
  work: z.object({
    kind: z.literal("fetch"),
    url: z.url(),
    quality: z.enum(QUALITIES),
    /** With the quality `audio` only; without it the sound stays as it is. */
    audio_format: z.enum(AUDIO_FORMATS).optional(),
    /** Languages (BCP-47). */
    subtitles: z.array(z.string()).max(SUBTITLES_MAX),
    /** The part to fetch, in seconds. */
    start: z.number().nonnegative().optional(),
    end: z.number().positive().optional(),
    /** The most bytes that the media may have. */
    bytes_max: z.int().positive(),
    run_seconds_max: z.int().positive(),
    outputs: z.array(taskOutput).min(1),
  }),
  result: z.object({
    kind: z.literal("fetch"),
    title: z.string().max(1000).nullable(),
    duration_seconds: z.number().nonnegative().nullable(),
    media: fetchedOutput,
    subtitles: z.array(fetchedOutput.extend({ language: z.string().max(100) })).max(SUBTITLES_MAX),
    warnings: taskWarnings,
  }),
} as const satisfies TaskDefinition

export type FetchWork = z.infer<typeof fetchTask.work>
export type FetchResult = z.infer<typeof fetchTask.result>
