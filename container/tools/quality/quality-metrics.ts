import { availableParallelism } from "node:os"
import { z } from "zod"
import { parseJson } from "../../parse-json.ts"
import type { QUALITY_METRICS } from "../../../src/contract/tasks/render.ts"

export type QualityMetric = (typeof QUALITY_METRICS)[number]

type Metric = {
  /**
   * Returns the filter that compares a rendition with its source, and writes the scores to a log
   * file.
   */
  filter: (log: string) => string
  /** Parses the score of each frame from the content of a log file. */
  readScores: (log: string) => number[]
  decimals: number
}

/** Maximum number of threads for VMAF. More threads save little time and slow down other jobs. */
const VMAF_THREADS_MAX = 4

const vmafLog = z.object({
  frames: z.array(z.object({ metrics: z.object({ vmaf: z.number() }) })),
})

/**
 * Filters and log parsers of the quality metrics: VMAF with its default model, from 0 to 100, and
 * SSIM, from 0 to 1.
 */
export const QUALITY_METRIC_DEFINITIONS: Record<QualityMetric, Metric> = {
  vmaf: {
    filter: (log) =>
      `libvmaf=log_fmt=json:log_path=${log}:shortest=1:n_threads=${Math.min(VMAF_THREADS_MAX, availableParallelism())}`,
    readScores: readVmaf,
    decimals: 2,
  },
  ssim: {
    filter: (log) => `ssim=stats_file=${log}:shortest=1`,
    readScores: readSsim,
    decimals: 5,
  },
}

/**
 * Returns the mean of scores, rounded to the precision of the metric; null if there are no scores.
 */
export function meanQualityScore(metric: QualityMetric, scores: readonly number[]): number | null {
  if (scores.length === 0) return null
  const sum = scores.reduce((total, score) => total + score, 0)
  return Number((sum / scores.length).toFixed(QUALITY_METRIC_DEFINITIONS[metric].decimals))
}

/**
 * Parses the scores of frames from a VMAF log. The first frame counts only if it is the only frame,
 * since VMAF cannot measure the motion of the first frame.
 */
function readVmaf(log: string): number[] {
  const parsed = vmafLog.safeParse(parseJson(log))
  const scores = parsed.success ? parsed.data.frames.map(({ metrics }) => metrics.vmaf) : []
  return scores.length > 1 ? scores.slice(1) : scores
}

/**
 * Parses the scores of frames from an SSIM log. Skips a partial last line, which a killed run
 * leaves.
 */
function readSsim(log: string): number[] {
  return Array.from(log.matchAll(/^n:\d+ .*\bAll:(\d\.\d+) \(/gm), ([, score]) => Number(score))
}
