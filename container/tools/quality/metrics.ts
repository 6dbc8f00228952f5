import { availableParallelism } from "node:os"
import { z } from "zod"
import type { QUALITY_METRICS } from "../../../src/contract/tasks/render.ts"

export type QualityMetric = (typeof QUALITY_METRICS)[number]

type Metric = {
  /** The filter of two inputs, first the rendition and then its source, which writes a log. */
  filter: (log: string) => string
  /** The score of each compared frame, as a log says. */
  readScores: (log: string) => number[]
  decimals: number
}

/** VMAF's own threads; more than this gain little, and other jobs have work to do. */
const VMAF_THREADS_MAX = 4

const vmafLog = z.object({
  frames: z.array(z.object({ metrics: z.object({ vmaf: z.number() }) })),
})

/** What is measured, and how: VMAF by its default model, from 0 to 100, and SSIM from 0 to 1. */
export const METRICS: Record<QualityMetric, Metric> = {
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

/** The mean of the scores of frames, as precise as the metric is; null where there are none. */
export function meanScore(metric: QualityMetric, scores: readonly number[]): number | null {
  if (scores.length === 0) return null
  const sum = scores.reduce((total, score) => total + score, 0)
  return Number((sum / scores.length).toFixed(METRICS[metric].decimals))
}

/** Scores of frames; a first one, for which nothing has moved yet, counts only where it is alone. */
function readVmaf(log: string): number[] {
  const parsed = vmafLog.safeParse(parseJson(log))
  const scores = parsed.success ? parsed.data.frames.map(({ metrics }) => metrics.vmaf) : []
  return scores.length > 1 ? scores.slice(1) : scores
}

/** A run that is ended writes a part of its last line. */
function readSsim(log: string): number[] {
  return Array.from(log.matchAll(/^n:\d+ .*\bAll:(\d\.\d+) \(/gm), ([, score]) => Number(score))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
