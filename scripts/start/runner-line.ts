import { z } from "zod"
import { parseJson } from "../cli/parse-json.ts"

const line = z.object({
  time: z.iso.datetime(),
  event: z.string(),
  part: z.literal("runner"),
  job_id: z.string(),
  fence: z.number(),
  processing_seconds: z.number().optional(),
})

/**
 * Event of a run in the runner's log. `atMs` is the time of the log line, in milliseconds since the
 * epoch.
 */
export type RunnerLogEvent = {
  event: string
  atMs: number
  jobId: string
  fence: number
  processingSeconds?: number | undefined
}

/** Parses a line of the runner's log. Returns null if the line is no event of a run. */
export function parseRunnerLogEvent(text: string): RunnerLogEvent | null {
  const { data } = line.safeParse(parseJson(text))
  if (!data) return null
  const { event, time, job_id: jobId, fence, processing_seconds: processingSeconds } = data
  return { event, atMs: Date.parse(time), jobId, fence, processingSeconds }
}
