import { z } from "zod"
import { outputReportSchema } from "../report.ts"
import { taskOutputSchema, taskWarningsSchema } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

/**
 * Key of the only output of a normalization. The runner names the file `output` with the extension
 * of its container.
 */
export const NORMALIZED_OUTPUT_KEY = "output"

/**
 * Loudness by EBU R 128: integrated (LUFS), range (LU) and true peak (dBTP). A null value means
 * that the value cannot be measured, as for silence.
 */
export const loudnessSchema = z.object({
  integrated_lufs: z.number().nullable(),
  range_lu: z.number().nullable(),
  true_peak_dbtp: z.number().nullable(),
})

/**
 * Ways in which normalization changed the audio: `linear` is a constant gain, `dynamic` is a
 * varying gain or a limiter, and `none` is no change.
 */
export const NORMALIZATION_TYPES = ["linear", "dynamic", "none"] as const

/**
 * Format of an audio file: the container, and the codec of the first audio stream, by ffmpeg's
 * names.
 */
export const audioFormatSchema = z.object({
  container: z.string().max(100),
  codec: z.string().max(100),
})

/** Task that normalizes all audio streams of the input to a target loudness. */
export const normalizeTaskDefinition = {
  name: "normalize",
  pool: () => "media",
  tools: ["ffmpeg", "ffprobe"],
  work: z.object({
    kind: z.literal("normalize"),
    target: z.object({
      integrated_lufs: z.number(),
      range_lu: z.number(),
      true_peak_dbtp: z.number(),
    }),
    run_seconds_max: z.int().positive(),
    outputs: z.array(taskOutputSchema).length(1),
  }),
  result: z.object({
    kind: z.literal("normalize"),
    outputs: z.array(outputReportSchema.extend({ name: z.string().min(1).max(255) })).length(1),
    /** Loudness of the first audio stream. */
    measurements: z.object({ before: loudnessSchema, after: loudnessSchema }),
    normalization_type: z.enum(NORMALIZATION_TYPES),
    /**
     * Whether every measurable audio stream has the target loudness and peak; false if no stream is
     * measurable.
     */
    target_reached: z.boolean(),
    format: audioFormatSchema,
    /**
     * Format of the input if the container or the codec of the input could not be kept; else null.
     */
    converted_from: audioFormatSchema.nullable(),
    warnings: taskWarningsSchema,
  }),
} as const satisfies TaskDefinition

export type NormalizeWork = z.infer<typeof normalizeTaskDefinition.work>
export type NormalizeResult = z.infer<typeof normalizeTaskDefinition.result>
export type Loudness = z.infer<typeof loudnessSchema>
