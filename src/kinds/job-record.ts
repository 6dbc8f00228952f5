import { z } from "zod"
import { failureCodeSchema } from "../contract/failure.ts"
import { sha256HexSchema } from "../contract/sha256.ts"
import type { Progress } from "../domain/progress.ts"
import type { Job, JobResult } from "../db/schema/jobs.ts"
import { renditionQualitySchema } from "../contract/tasks/render.ts"
import { STATES } from "../domain/states.ts"
import type { State } from "../domain/states.ts"
import {
  buildArchiveUrlField,
  archiveUrlSchema,
  buildFileUrl,
  outputToLinkableFile,
  buildPublicUrlField,
  publicUrlSchema,
} from "./file-links.ts"
import type { JobForOutputLinks } from "./file-links.ts"
import {
  dateTimeSchema,
  buildFileIdsField,
  fileIdsFieldSchema,
  buildJobFields,
  jobFieldSchemas,
  buildLogAndStdoutFields,
  logAndStdoutFieldSchemas,
  toDateTime,
} from "./shared-record-fields.ts"

const STATUS = {
  waiting: "queued",
  running: "processing",
  succeeded: "completed",
  failed: "failed",
  canceled: "failed",
} as const satisfies Record<State, string>

export const JOB_STATUSES = ["queued", "processing", "completed", "failed"] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/** Returns the internal job states that the Job record shows as the given status. */
export function findStatesByJobStatus(status: JobStatus): State[] {
  return STATES.filter((state) => STATUS[state] === status)
}

/**
 * Schema of an output in the Job record, and in the records of kinds that have a list of outputs.
 */
export const jobOutputSchema = z.object({
  id: z.uuid().optional().meta({
    description:
      "The id of the output's File, which is an input of other jobs as `svc_id://<id>`; absent for outputs that are no Files.",
  }),
  name: z.string(),
  url: z.url(),
  public_url: publicUrlSchema,
  archive_url: archiveUrlSchema,
  content_type: z.string(),
  sha256: sha256HexSchema.optional().meta({
    description: "SHA-256 of the bytes, if the service computed it while it received them.",
  }),
  codec: z.string().optional(),
  resolution: z.string().optional(),
  duration_seconds: z.number().optional(),
  size_bytes: z.int(),
  quality: renditionQualitySchema.optional().meta({
    description:
      "Score of a rendition, if the request set `quality_metrics`: VMAF (0 to 100) or SSIM (0 to 1).",
  }),
})

/** Schema of the Job record, which is the same for every kind. */
export const jobRecordSchema = z
  .object({
    id: z.uuid(),
    kind: z.string(),
    status: z.enum(JOB_STATUSES),
    created_at: dateTimeSchema,
    outputs: z.array(jobOutputSchema),
    ...fileIdsFieldSchema,
    ...jobFieldSchemas,
    retry_of: z.uuid().optional(),
    error: z.object({ code: failureCodeSchema, message: z.string() }).optional(),
    processing_errors: z.array(z.string()).optional().meta({
      description: "The error as a sentence, then the last lines of the tool that failed.",
    }),
    ...logAndStdoutFieldSchemas,
  })
  .meta({ id: "Job" })

export type JobRecord = z.infer<typeof jobRecordSchema>

type Output = JobResult["outputs"][number]
/** Function that returns the URL of an output outside the account's files; null for a file. */
type FindNonFileUrl = (output: Output) => string | null

/** Returns null for every output, for jobs whose outputs are all files of the account. */
function findNoUrl(): null {
  return null
}

/**
 * Builds the Job record of a job. `findNonFileUrl` returns the URLs of outputs that are no files of
 * the account.
 */
export function buildJobRecordWithOutputUrls(
  base: string,
  job: Job,
  progress: Progress | null,
  findNonFileUrl: FindNonFileUrl,
): JobRecord {
  return {
    id: job.id,
    kind: job.kind,
    status: STATUS[job.state],
    created_at: toDateTime(job.createdAt),
    outputs: buildOutputRecords(base, job, findNonFileUrl),
    ...buildFileIdsField(job),
    ...buildJobFields(job, progress),
    ...(job.retryOf !== null && { retry_of: job.retryOf }),
    ...(STATUS[job.state] === "failed" && failureFields(job)),
    ...buildLogAndStdoutFields(base, job),
  }
}

/** Builds the Job record of a job whose outputs are all files of the account. */
export function buildJobRecordWithFileUrls(
  base: string,
  job: Job,
  progress: Progress | null,
): JobRecord {
  return buildJobRecordWithOutputUrls(base, job, progress, findNoUrl)
}

function failureFields(job: Job): Pick<JobRecord, "error" | "processing_errors"> {
  const { errorLines: lines } = job
  const error = {
    code: job.errorCode ?? "internal",
    message: job.errorMessage ?? "The job failed.",
  }
  return { error, ...(lines?.length && { processing_errors: [error.message, ...lines] }) }
}

/** Builds the list of outputs in a job's record, without intermediate outputs. */
export function buildOutputRecords(
  base: string,
  job: JobForOutputLinks & Pick<Job, "result">,
  findNonFileUrl: FindNonFileUrl = findNoUrl,
): z.infer<typeof jobOutputSchema>[] {
  return (job.result?.outputs ?? [])
    .filter(({ isIntermediate = false }) => !isIntermediate)
    .map((output) => ({
      ...linkFields(base, job, output, findNonFileUrl(output)),
      content_type: output.contentType,
      ...(output.sha256 !== undefined && { sha256: output.sha256 }),
      ...(output.codec !== undefined && { codec: output.codec }),
      ...(output.height !== undefined && { resolution: `${output.width}x${output.height}` }),
      ...(output.durationSeconds !== undefined && { duration_seconds: output.durationSeconds }),
      size_bytes: output.sizeBytes,
      ...(output.quality && { quality: output.quality }),
    }))
}

/**
 * Returns the name and the URLs of an output. An output that is no file of the account has the
 * single URL `nonFileUrl`.
 */
function linkFields(
  base: string,
  job: JobForOutputLinks,
  output: Output,
  nonFileUrl: string | null,
) {
  const { name } = output
  if (nonFileUrl !== null) return { name, url: nonFileUrl }
  const linked = outputToLinkableFile(job, output)
  return {
    id: linked.id,
    name,
    url: buildFileUrl(base, linked),
    ...buildPublicUrlField(base, linked),
    ...buildArchiveUrlField(base, linked),
  }
}
