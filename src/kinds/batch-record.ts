import { z } from "zod"
import { failureCodeSchema } from "../contract/failure.ts"
import type { BatchWithJobs, JobDependency } from "../domain/batch.ts"
import type { Batch } from "../db/schema/batches.ts"
import type { Job } from "../db/schema/jobs.ts"
import type { Progress } from "../domain/progress.ts"
import { isFinalState } from "../domain/states.ts"
import { jobOutputSchema, JOB_STATUSES } from "./job-record.ts"
import { getReferencedOutputName } from "./output-references.ts"
import { findKind, buildJobRecordOfAnyKind } from "./registry.ts"
import {
  dateTimeSchema,
  buildExpiryField,
  fileIdsFieldSchema,
  toDateTime,
} from "./shared-record-fields.ts"

const BATCH_STATUSES = ["running", "success", "failed"] as const

/** Schema of a batch in lists. In a list, a batch has no field with its jobs. */
export const batchSummarySchema = z
  .object({
    id: z.uuid(),
    status: z.enum(BATCH_STATUSES).meta({
      description:
        "`running` until the last job ends, then `success` if all jobs succeeded, else `failed`.",
    }),
    created_at: dateTimeSchema,
    completed_at: dateTimeSchema.nullable(),
    total_jobs: z.int(),
    open_jobs: z.int(),
    failed_jobs: z.int().meta({ description: "Number of jobs that failed or were canceled." }),
    metadata: z.record(z.string(), z.string()),
    retry_of: z.uuid().optional(),
    expires_at: dateTimeSchema.optional(),
  })
  .meta({ id: "BatchSummary" })

const batchJobRecord = z.object({
  id: z.uuid(),
  kind: z.string(),
  status: z.enum(JOB_STATUSES),
  progress: z.number().min(0).max(100).nullable(),
  needs: z.array(z.string()).meta({
    description: "The jobs whose outputs the job reads: by name, or by id outside of the batch.",
  }),
  waiting_for: z.array(z.string()).optional().meta({
    description: "Those of `needs` that have not ended.",
  }),
  started_at: dateTimeSchema.nullable(),
  completed_at: dateTimeSchema.nullable(),
  error: z.object({ code: failureCodeSchema, message: z.string() }).optional(),
  ...fileIdsFieldSchema,
  outputs: z.record(z.string(), jobOutputSchema).meta({
    description: "The outputs of the job by the names that `svc_id://<job>/<output>` uses.",
  }),
})

/** Schema of the Batch record. */
export const batchRecordSchema = batchSummarySchema
  .extend({
    progress: z.number().min(0).max(100).meta({
      description: "Mean of the progress of all jobs, in percent; a job that ended counts as 100.",
    }),
    jobs: z.record(z.string(), batchJobRecord).meta({
      description: "The jobs by name, in the order of their creation. A deleted job is absent.",
    }),
  })
  .meta({ id: "Batch" })

export type BatchRecord = z.infer<typeof batchRecordSchema>

/** Builds the record of a batch for lists. */
export function buildBatchSummary(batch: Batch): z.infer<typeof batchSummarySchema> {
  const { completedAt, retentionMs } = batch
  const isKept = completedAt === null || retentionMs === null
  return {
    id: batch.id,
    status: statusOf(batch),
    created_at: toDateTime(batch.createdAt),
    completed_at: toDateTime(completedAt),
    total_jobs: batch.totalJobs,
    open_jobs: batch.openJobs,
    failed_jobs: batch.failedJobs,
    metadata: batch.metadata ?? {},
    ...(batch.retryOf !== null && { retry_of: batch.retryOf }),
    ...buildExpiryField(isKept ? null : completedAt + retentionMs),
  }
}

/** Builds the record of a batch. `progress` has the progress of unfinished jobs, by job id. */
export function buildBatchRecord(
  base: string,
  { batch, jobs, dependencies }: BatchWithJobs,
  progress: ReadonlyMap<string, Progress>,
): BatchRecord {
  const names = new Map(jobs.map(({ id, batchName }) => [id, batchName ?? id]))
  const records = jobs.map((job) => {
    return buildJobRecord(base, job, {
      names,
      dependencies,
      progress: progress.get(job.id) ?? null,
    })
  })
  return {
    ...buildBatchSummary(batch),
    progress: computeBatchProgress(batch, records),
    jobs: Object.fromEntries(records.map((record) => [names.get(record.id) ?? record.id, record])),
  }
}

function statusOf({ openJobs, failedJobs }: Batch): (typeof BATCH_STATUSES)[number] {
  if (openJobs > 0) return "running"
  return failedJobs === 0 ? "success" : "failed"
}

/** Returns the mean progress of the jobs in percent, rounded to tenths; below 100 until all end. */
function computeBatchProgress(
  { totalJobs, openJobs }: Batch,
  records: readonly z.infer<typeof batchJobRecord>[],
): number {
  if (openJobs === 0) return 100
  const left = records.map(({ completed_at, progress }) => {
    return completed_at === null ? 100 - (progress ?? 0) : 0
  })
  const percent = 100 - left.reduce((sum, each) => sum + each, 0) / totalJobs
  return Math.min(99.9, Math.round(percent * 10) / 10)
}

function buildJobRecord(
  base: string,
  job: Job,
  batch: {
    names: ReadonlyMap<string, string>
    dependencies: readonly JobDependency[]
    progress: Progress | null
  },
): z.infer<typeof batchJobRecord> {
  const { names, dependencies, progress } = batch
  const record = buildJobRecordOfAnyKind(base, job, progress)
  const needed = dependencies.filter(({ jobId }) => jobId === job.id)
  const { id, kind, status, error, file_ids, waiting_for, started_at, completed_at } = record
  return {
    id,
    kind,
    status,
    progress: record.progress,
    needs: needed.map(({ neededJobId }) => names.get(neededJobId) ?? neededJobId),
    ...(waiting_for && { waiting_for: waiting_for.map((each) => names.get(each) ?? each) }),
    started_at,
    completed_at,
    ...(error && { error }),
    ...(file_ids && { file_ids }),
    outputs: Object.fromEntries(nameOutputs(job, record.outputs)),
  }
}

/** Returns the outputs of an ended job, each with its name in references to the output. */
function nameOutputs(
  { kind, state, result }: Job,
  outputs: readonly z.infer<typeof jobOutputSchema>[],
): [string, z.infer<typeof jobOutputSchema>][] {
  if (!isFinalState(state)) return []
  const definition = findKind(kind)
  const shown = (result?.outputs ?? []).filter(({ isIntermediate = false }) => !isIntermediate)
  return shown.flatMap(({ key }, at) => {
    const output = outputs[at]
    return output ? [[getReferencedOutputName(definition, key), output]] : []
  })
}
