import { z } from "zod"
import { outputReport } from "../report.ts"
import { fileKey, taskOutput, taskWarnings } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

export const RENDITION_CODECS = ["h264", "h265", "vp9", "av1"] as const
export const RENDITION_SIZES = ["240p", "360p", "480p", "720p", "1080p", "1440p", "4k"] as const
export const RENDITION_CONTAINERS = ["mp4", "webm", "mov"] as const

export type RenditionCodec = (typeof RENDITION_CODECS)[number]
export type RenditionSize = (typeof RENDITION_SIZES)[number]
export type RenditionContainer = (typeof RENDITION_CONTAINERS)[number]

/** Containers that players support for each codec. */
export const CONTAINERS_OF_CODEC = {
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
export const renditionQuality = z.object({ metric: z.enum(QUALITY_METRICS), score: z.number() })

/** Rendition to encode. The output of the rendition has the same key as the rendition. */
export const rendition = z.object({
  key: fileKey,
  codec: z.enum(RENDITION_CODECS),
  /**
   * Bounding box that the frame must fit into. For portrait video, the width and height of the box
   * are swapped.
   */
  resolution: z.enum(RENDITION_SIZES),
  container: z.enum(RENDITION_CONTAINERS),
  /**
   * Average bitrate of the video stream. If it is absent, the encoder uses the constant quality of
   * the preset.
   */
  bitrate_kbps: z.int().min(BITRATE_KBPS_MIN).max(BITRATE_KBPS_MAX).optional(),
})

/**
 * Task that encodes renditions of the input. Identical renditions are encoded once: `same` lists
 * each omitted rendition with the key of the output that replaces it.
 */
export const renderTask = {
  name: "render",
  pool: () => "media",
  tools: ["ffmpeg", "ffprobe"],
  work: z.object({
    kind: z.literal("render"),
    renditions: z.array(rendition).min(1).max(RENDITIONS_MAX),
    /** Whether the quality of each rendition is measured. */
    measures_quality: z.boolean(),
    run_seconds_max: z.int().positive(),
    outputs: z.array(taskOutput).min(1).max(RENDITIONS_MAX),
  }),
  result: z.object({
    kind: z.literal("render"),
    outputs: z
      .array(outputReport.extend({ quality: renditionQuality.optional() }))
      .min(1)
      .max(RENDITIONS_MAX),
    same: z
      .array(z.object({ key: fileKey, same_as: fileKey }))
      .max(RENDITIONS_MAX)
      .optional(),
    warnings: taskWarnings,
  }),
} as const satisfies TaskDefinition

export type Rendition = z.infer<typeof rendition>
export type RenditionQuality = z.infer<typeof renditionQuality>
export type RenderWork = z.infer<typeof renderTask.work>
export type RenderResult = z.infer<typeof renderTask.result>
