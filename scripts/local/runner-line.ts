import { z } from "zod"
import { parseJson } from "./parse-json.ts"

const line = z.object({
  time: z.iso.datetime(),
  event: z.string(),
  part: z.literal("runner"),
  job_id: z.string(),
  fence: z.number(),
  processing_seconds: z.number().optional(),
})

/** An event that a runner logged of a run of a job; `atMs` is by the clock of the machine. */
export type RunnerLine = {
  event: string
  atMs: number
  jobId: string
  fence: number
  processingSeconds?: number | undefined
}

/** What a line of a log says of a run; null for any other line. */
export function readRunnerLine(text: string): RunnerLine | null {
  const { data } = line.safeParse(parseJson(text))
  if (!data) return null
  const { event, time, job_id: jobId, fence, processing_seconds: processingSeconds } = data
  return { event, atMs: Date.parse(time), jobId, fence, processingSeconds }
}
