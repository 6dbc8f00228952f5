import { z } from "zod"
import { outputReport } from "../report.ts"
import { fileKey, taskOutput, taskWarnings } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

export const RENDITION_CODECS = ["h264", "h265", "vp9", "av1"] as const
export const RENDITION_SIZES = ["480p", "720p", "1080p", "4k"] as const
export const RENDITION_CONTAINERS = ["mp4", "webm", "mov"] as const

export type RenditionCodec = (typeof RENDITION_CODECS)[number]
export type RenditionSize = (typeof RENDITION_SIZES)[number]
export type RenditionContainer = (typeof RENDITION_CONTAINERS)[number]

/** The containers that players take a codec in. */
export const CONTAINERS_OF_CODEC = {
  h264: ["mp4", "mov"],
  h265: ["mp4", "mov"],
  vp9: ["mp4", "webm"],
  av1: ["mp4", "webm"],
} as const satisfies Record<RenditionCodec, readonly RenditionContainer[]>

/** The most renditions of one task: every codec in every size and container that it can have. */
export const RENDITIONS_MAX = 32
/** Bounds of the bit rate of a picture, in kilobits (1000 bits) a second. */
export const BITRATE_KBPS_MIN = 100
export const BITRATE_KBPS_MAX = 200_000

/** Metrics of how like its source a rendition is: VMAF from 0 to 100, SSIM from 0 to 1. */
export const QUALITY_METRICS = ["vmaf", "ssim"] as const

/** What was measured of a rendition, on a sample of its pictures. */
export const renditionQuality = z.object({ metric: z.enum(QUALITY_METRICS), score: z.number() })

/** One rendition to make; its output has the same key. */
export const rendition = z.object({
  key: fileKey,
  codec: z.enum(RENDITION_CODECS),
  /** The box that the picture fits in, turned for a portrait. */
  resolution: z.enum(RENDITION_SIZES),
  container: z.enum(RENDITION_CONTAINERS),
  /** The mean rate of the picture's stream; without it the preset's quality decides. */
  bitrate_kbps: z.int().min(BITRATE_KBPS_MIN).max(BITRATE_KBPS_MAX).optional(),
})

/** Makes renditions of the one input, in the order of the work. */
export const renderTask = {
  name: "render",
  pool: () => "media",
  tools: ["ffmpeg", "ffprobe"],
  work: z.object({
    kind: z.literal("render"),
    renditions: z.array(rendition).min(1).max(RENDITIONS_MAX),
    /** Whether the quality of each is measured. */
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
    warnings: taskWarnings,
  }),
} as const satisfies TaskDefinition

export type Rendition = z.infer<typeof rendition>
export type RenditionQuality = z.infer<typeof renditionQuality>
export type RenderWork = z.infer<typeof renderTask.work>
export type RenderResult = z.infer<typeof renderTask.result>
