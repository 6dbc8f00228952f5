import { z } from "zod"
import { taskWarningsSchema } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

const count = z.int().nonnegative().nullable()
const text = z.string().max(10_000).nullable()

/** Format in which a web site offers a video. */
export const videoFormatSchema = z.object({
  format_id: z.string().max(200),
  ext: text,
  width: count,
  height: count,
  fps: z.number().nonnegative().nullable(),
  video_codec: text,
  audio_codec: text,
  bitrate_kbps: z.number().nonnegative().nullable(),
  size_bytes: count,
})

export const VIDEO_FORMATS_MAX = 200

/**
 * Metadata of the video on a web page. A null value means that the page does not provide the value.
 */
export const videoMetadataSchema = z.object({
  url: z.url(),
  title: text,
  duration: z.number().nonnegative().nullable(),
  view_count: count,
  like_count: count,
  comment_count: count,
  uploader: text,
  /** Time of the upload in ISO 8601; only the date if the time is unknown. */
  upload_date: text,
  description: text,
  thumbnail: text,
  is_live: z.boolean(),
  /** Name of yt-dlp's extractor for the web site. */
  extractor: text,
  formats: z.array(videoFormatSchema).max(VIDEO_FORMATS_MAX),
})

/** Task that reads the metadata of a page's video without downloading the media. */
export const metadataTaskDefinition = {
  name: "metadata",
  pool: () => "lookup",
  tools: ["yt-dlp"],
  hasOwnTimeLimit: true,
  work: z.object({
    kind: z.literal("metadata"),
    url: z.url(),
    run_seconds_max: z.int().positive(),
  }),
  result: z.object({
    kind: z.literal("metadata"),
    metadata: videoMetadataSchema,
    warnings: taskWarningsSchema,
  }),
} as const satisfies TaskDefinition

export type MetadataWork = z.infer<typeof metadataTaskDefinition.work>
export type MetadataResult = z.infer<typeof metadataTaskDefinition.result>
export type VideoMetadata = z.infer<typeof videoMetadataSchema>
