import { z } from "zod"
import { failureCode } from "../contract/failure.ts"
import type { Progress } from "../rpc.ts"
import type { Job, JobResult } from "../storage/schema/jobs.ts"
import { renditionQuality } from "../contract/tasks/render.ts"
import { STATES } from "../storage/schema/states.ts"
import type { State } from "../storage/schema/states.ts"
import { fileUrl } from "./file-links.ts"
import {
  dateTime,
  jobFields,
  jobFieldSchemas,
  logField,
  logFieldSchema,
  toDateTime,
} from "./record-fields.ts"

const STATUS = {
  waiting: "queued",
  running: "processing",
  succeeded: "completed",
  failed: "failed",
  canceled: "failed",
} as const satisfies Record<State, string>

export const JOB_STATUSES = ["queued", "processing", "completed", "failed"] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/** The states that a status of the job vocabulary stands for. */
export function statesOfJobStatus(status: JobStatus): State[] {
  return STATES.filter((state) => STATUS[state] === status)
}

/** An output as the Job shows it. */
export const jobOutput = z.object({
  url: z.url(),
  codec: z.string().optional(),
  resolution: z.string().optional(),
  duration_seconds: z.number().optional(),
  size_bytes: z.int(),
  quality: renditionQuality.optional().meta({
    description:
      "The score of a rendition, where `quality_metrics` asked for it: VMAF (0 to 100) or SSIM (0 to 1).",
  }),
})

/** The Job record, in the job vocabulary; the same for every kind. */
export const jobRecord = z
  .object({
    id: z.uuid(),
    kind: z.string(),
    status: z.enum(JOB_STATUSES),
    created_at: dateTime,
    outputs: z.array(jobOutput),
    ...jobFieldSchemas,
    retry_of: z.uuid().optional(),
    error: z.object({ code: failureCode, message: z.string() }).optional(),
    processing_errors: z
      .array(z.string())
      .optional()
      .meta({ description: "The error in a sentence, then what the tool that failed said last." }),
    ...logFieldSchema,
  })
  .meta({ id: "Job" })

export type JobRecord = z.infer<typeof jobRecord>

type Output = JobResult["outputs"][number]

/** The Job record of a job whose outputs have the addresses that `urlOf` gives. */
export function viewJobWith(
  base: string,
  job: Job,
  progress: Progress | null,
  urlOf: (output: Output) => string,
): JobRecord {
  return {
    id: job.id,
    kind: job.kind,
    status: STATUS[job.state],
    created_at: toDateTime(job.createdAt),
    outputs: viewOutputs(job, urlOf),
    ...jobFields(job, progress),
    ...(job.retryOf !== null && { retry_of: job.retryOf }),
    ...(STATUS[job.state] === "failed" && failureOf(job)),
    ...logField(base, job),
  }
}

/** The Job record of a job whose outputs are Files. */
export function viewJobOfFiles(base: string, job: Job, progress: Progress | null): JobRecord {
  return viewJobWith(base, job, progress, ({ fileId, name }) => fileUrl(base, { id: fileId, name }))
}

function failureOf(job: Job): Pick<JobRecord, "error" | "processing_errors"> {
  const { errorLines: lines } = job
  const error = {
    code: job.errorCode ?? "internal",
    message: job.errorMessage ?? "The job failed.",
  }
  return { error, ...(lines?.length && { processing_errors: [error.message, ...lines] }) }
}

/** What a job made, without what it made on the way there. */
export function viewOutputs(
  { result }: Pick<Job, "result">,
  urlOf: (output: Output) => string,
): z.infer<typeof jobOutput>[] {
  return (result?.outputs ?? [])
    .filter(({ isIntermediate = false }) => !isIntermediate)
    .map((made) => viewOutput(made, urlOf(made)))
}

function viewOutput(made: Output, url: string): z.infer<typeof jobOutput> {
  return {
    url,
    ...(made.codec !== undefined && { codec: made.codec }),
    ...(made.height !== undefined && { resolution: `${made.width}x${made.height}` }),
    ...(made.durationSeconds !== undefined && { duration_seconds: made.durationSeconds }),
    size_bytes: made.sizeBytes,
    ...(made.quality && { quality: made.quality }),
  }
}
