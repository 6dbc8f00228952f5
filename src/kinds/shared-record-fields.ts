import { z } from "zod"
import { failureCodeSchema } from "../contract/failure.ts"
import { progressDetailSchema } from "../contract/report.ts"
import { warningSchema } from "../contract/warning.ts"
import type { Progress } from "../domain/progress.ts"
import { buildLogUrl } from "./file-links.ts"
import type { Job } from "../db/schema/jobs.ts"
import { STATES } from "../domain/states.ts"
import type { State } from "../domain/states.ts"

const STATUS = {
  waiting: "pending",
  running: "running",
  succeeded: "success",
  failed: "failed",
  canceled: "failed",
} as const satisfies Record<State, string>

export const RECORD_STATUSES = ["pending", "running", "success", "failed"] as const
export type RecordStatus = (typeof RECORD_STATUSES)[number]

function statusOf(state: State): RecordStatus {
  return STATUS[state]
}

/** Returns the internal states that records of jobs and files show as the given status. */
export function findStatesByStatus(status: RecordStatus): State[] {
  return STATES.filter((state) => STATUS[state] === status)
}

export const dateTimeSchema = z.iso.datetime()

/** Formats a time in milliseconds as ISO 8601 in UTC. Returns null for null. */
export function toDateTime(moment: number): string
export function toDateTime(moment: number | null): string | null
export function toDateTime(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString()
}

/** Schema of a warning in records. */
export const warningRecordSchema = warningSchema.meta({ id: "Warning" })

/** Schemas of the job fields that every record has: progress, attempts, warnings and times. */
export const jobFieldSchemas = {
  progress: z.number().min(0).max(100).nullable().meta({
    description: "Completed share of the work in percent; null if the share is unknown.",
  }),
  progress_detail: progressDetailSchema.optional().meta({
    description: "Progress that the tool of a running job reports, even if the total is unknown.",
  }),
  eta_seconds: z.int().min(0).nullable(),
  attempts: z.int().min(0),
  waiting_for: z.array(z.uuid()).optional().meta({
    description: "The ids of the open jobs whose outputs this pending job waits for.",
  }),
  batch_id: z.uuid().optional().meta({ description: "The batch that created the job." }),
  metadata: z.record(z.string(), z.string()),
  warnings: z.array(warningRecordSchema).meta({
    description: "Warnings about the request, and about the result of successful work.",
  }),
  started_at: dateTimeSchema.nullable(),
  completed_at: dateTimeSchema.nullable(),
  expires_at: dateTimeSchema.optional().meta({
    description:
      "Time at which the service may remove the job and the files that it stored. Without it the service keeps the job.",
  }),
}

export function buildJobFields(job: Job, progress: Progress | null) {
  return {
    progress: computePercent(job, progress),
    ...(progress?.detail && { progress_detail: progress.detail }),
    eta_seconds: progress?.etaSeconds === undefined ? null : Math.round(progress.etaSeconds),
    attempts: job.attempts,
    ...(job.state === "waiting" && job.waitingFor?.length && { waiting_for: job.waitingFor }),
    ...(job.batchId !== null && { batch_id: job.batchId }),
    metadata: job.metadata ?? {},
    warnings: job.warnings ?? [],
    started_at: toDateTime(job.startedAt),
    completed_at: toDateTime(job.completedAt),
    ...buildExpiryField(computeJobExpiry(job)),
  }
}

/**
 * Returns the time in milliseconds at which the service removes a job with its files. Returns null
 * if the job has not ended or has no retention of its own.
 */
export function computeJobExpiry({
  completedAt,
  retentionMs,
}: Pick<Job, "completedAt" | "retentionMs">) {
  return completedAt === null || retentionMs === null ? null : completedAt + retentionMs
}

/** Returns the field `expires_at` of a record; an empty object if `expiresAt` is null. */
export function buildExpiryField(expiresAt: number | null): { expires_at?: string } {
  return expiresAt === null ? {} : { expires_at: toDateTime(expiresAt) }
}

/**
 * Schemas of the fields for ffmpeg's log and standard output, in records of the kinds that store
 * them.
 */
export const logAndStdoutFieldSchemas = {
  log: z.url().optional().meta({
    description: "URL of the last 64 KB of the ffmpeg log, as plain text.",
  }),
  stdout: z.string().optional().meta({
    description:
      "The text that ffmpeg wrote to standard output, its last 64 KB. Lists leave out a long one.",
  }),
}

export function buildLogAndStdoutFields(base: string, { id, result }: Pick<Job, "id" | "result">) {
  return {
    ...(result?.hasLog && { log: buildLogUrl(base, id) }),
    ...(result?.stdout !== undefined && { stdout: result.stdout }),
  }
}

/**
 * Schema of the field for the ids of a job's output Files, in records of the kinds that create
 * Files.
 */
export const fileIdsFieldSchema = {
  file_ids: z.record(z.string(), z.uuid()).optional().meta({
    description:
      "The ids of the Files that the job makes, by the key of the output: reserved at the create, and downloadable after the success.",
  }),
}

/**
 * Returns the ids of the files that a job creates, by output key. Identical renditions share one
 * file, whose id comes from the job's result.
 */
export function buildFileIdsField({ fileIds, result }: Pick<Job, "fileIds" | "result">) {
  if (!fileIds) return {}
  const made = new Map(result?.outputs.map(({ key, fileId }) => [key, fileId]))
  const named = Object.entries(fileIds).map(([key, id]) => [key, made.get(key) ?? id] as const)
  return { file_ids: Object.fromEntries(named) }
}

/**
 * Returns the progress of a job in percent, rounded to tenths. Returns null if the job has started
 * but its progress is unknown.
 */
function computePercent(job: Job, progress: Progress | null): number | null {
  if (job.state === "succeeded") return 100
  const percent = progress?.percent || job.progress || null
  if (percent !== null) return roundTenth(percent)
  return job.startedAt === null && progress === null ? 0 : null
}

/**
 * Schemas of the first fields in the records of Files and jobs. The error fields are present only
 * after a failure.
 */
export const statusFieldSchemas = {
  id: z.uuid(),
  status: z.enum(RECORD_STATUSES),
  created_at: dateTimeSchema,
  error: z.string().optional(),
  error_code: failureCodeSchema.optional().meta({
    description:
      "Reason for the failure. Each code has a page under [/docs/errors/](/docs/errors/).",
  }),
}

/** Returns the first fields of a record from the row of a job or a file. */
export function buildStatusFields(
  row: Pick<Job, "id" | "state" | "createdAt" | "errorMessage" | "errorCode">,
): z.infer<z.ZodObject<typeof statusFieldSchemas>> {
  const status = statusOf(row.state)
  const head = { id: row.id, status, created_at: toDateTime(row.createdAt) }
  if (status !== "failed") return head
  return {
    ...head,
    error: row.errorMessage ?? "The job failed.",
    error_code: row.errorCode ?? "internal",
  }
}

function roundTenth(value: number): number {
  return Math.round(value * 10) / 10
}
