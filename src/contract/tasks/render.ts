import { z } from "zod"
import { outputReportSchema } from "../report.ts"
import { fileKeySchema, taskOutputSchema, taskWarningsSchema } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

export const RENDITION_CODECS = ["h264", "h265", "vp9", "av1"] as const
export const RENDITION_SIZES = ["240p", "360p", "480p", "720p", "1080p", "1440p", "4k"] as const
export const RENDITION_CONTAINERS = ["mp4", "webm", "mov"] as const

export type RenditionCodec = (typeof RENDITION_CODECS)[number]
export type RenditionSize = (typeof RENDITION_SIZES)[number]
export type RenditionContainer = (typeof RENDITION_CONTAINERS)[number]

/** Containers that players support for each codec. */
export const CONTAINERS_BY_CODEC = {
  h264: ["mp4", "mov"],
  h265: ["mp4", "mov"],
  vp9: ["mp4", "webm"],
  av1: ["mp4", "webm"],
} as const satisfies Record<RenditionCodec, readonly RenditionContainer[]>

/** Maximum number of renditions of one task. */
export const RENDITIONS_MAX = 32
/**
 * Minimum and maximum of the video bitrate that a caller may request, in kilobits (1000 bits) per
 * second.
 */
export const BITRATE_KBPS_MIN = 100
export const BITRATE_KBPS_MAX = 200_000

/**
 * Metrics that score how similar a rendition is to its source: VMAF from 0 to 100, SSIM from 0 to
 * 1.
 */
export const QUALITY_METRICS = ["vmaf", "ssim"] as const

/** Quality score of a rendition, measured on a sample of its frames. */
export const renditionQualitySchema = z.object({
  metric: z.enum(QUALITY_METRICS),
  score: z.number(),
})

/** Rendition to encode. Its key is also the key of the output. */
export const renditionSchema = z.object({
  key: fileKeySchema,
  codec: z.enum(RENDITION_CODECS),
  /**
   * Bounding box that the frame must fit into. For portrait video, the width and height of the box
   * are swapped.
   */
  resolution: z.enum(RENDITION_SIZES),
  container: z.enum(RENDITION_CONTAINERS),
  /**
   * Target for the average bitrate of the video stream. If absent, the encoder uses the constant
   * quality of the preset.
   */
  bitrate_kbps: z.int().min(BITRATE_KBPS_MIN).max(BITRATE_KBPS_MAX).optional(),
})

/**
 * Task that encodes renditions of the input. Identical renditions are encoded once. In the result,
 * `same` lists each rendition that was not encoded, with the key of the identical output.
 */
export const renderTaskDefinition = {
  name: "render",
  pool: () => "media",
  tools: ["ffmpeg", "ffprobe"],
  work: z.object({
    kind: z.literal("render"),
    renditions: z.array(renditionSchema).min(1).max(RENDITIONS_MAX),
    /** Whether the quality of each rendition is measured. */
    measures_quality: z.boolean(),
    run_seconds_max: z.int().positive(),
    outputs: z.array(taskOutputSchema).min(1).max(RENDITIONS_MAX),
  }),
  result: z.object({
    kind: z.literal("render"),
    outputs: z
      .array(outputReportSchema.extend({ quality: renditionQualitySchema.optional() }))
      .min(1)
      .max(RENDITIONS_MAX),
    same: z
      .array(z.object({ key: fileKeySchema, same_as: fileKeySchema }))
      .max(RENDITIONS_MAX)
      .optional(),
    warnings: taskWarningsSchema,
  }),
} as const satisfies TaskDefinition

export type Rendition = z.infer<typeof renditionSchema>
export type RenditionQuality = z.infer<typeof renditionQualitySchema>
export type RenderWork = z.infer<typeof renderTaskDefinition.work>
export type RenderResult = z.infer<typeof renderTaskDefinition.result>
