import { z } from "zod"
import { outputReport } from "../report.ts"
import { taskOutput, taskWarnings } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

/** The one output of a normalization; its name is `output.` and the extension of its container. */
export const NORMALIZED_KEY = "output"

/**
 * Loudness as measured by EBU R 128: integrated (LUFS), range (LU) and true peak (dBTP). Null where
 * there is nothing to measure, as in silence.
 */
export const loudness = z.object({
  integrated_lufs: z.number().nullable(),
  range_lu: z.number().nullable(),
  true_peak_dbtp: z.number().nullable(),
})

/** How the sound was changed: by one gain, by gains that follow the sound or limit it, or not at all. */
export const NORMALIZATION_TYPES = ["linear", "dynamic", "none"] as const

/** A container and the codec of the first audio stream, by ffmpeg's names. */
export const audioFormat = z.object({
  container: z.string().max(100),
  codec: z.string().max(100),
})

/** Brings all audio streams of the one input to a loudness. */
export const normalizeTask = {
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
    outputs: z.array(taskOutput).length(1),
  }),
  result: z.object({
    kind: z.literal("normalize"),
    outputs: z.array(outputReport.extend({ name: z.string().min(1).max(255) })).length(1),
    /** Of the first audio stream. */
    measurements: z.object({ before: loudness, after: loudness }),
    normalization_type: z.enum(NORMALIZATION_TYPES),
    /**
     * Whether every audio stream that can be measured has the target loudness and peak; false where
     * none can, as of silence.
     */
    target_reached: z.boolean(),
    format: audioFormat,
    /** Where the input's container or codec could not be kept. */
    converted_from: audioFormat.nullable(),
    warnings: taskWarnings,
  }),
} as const satisfies TaskDefinition

export type NormalizeWork = z.infer<typeof normalizeTask.work>
export type NormalizeResult = z.infer<typeof normalizeTask.result>
export type Loudness = z.infer<typeof loudness>
