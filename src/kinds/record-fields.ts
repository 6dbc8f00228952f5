import { z } from "zod"
import { failureCode } from "../contract/failure.ts"
import { progressDetail } from "../contract/report.ts"
import { warning } from "../contract/warning.ts"
import type { Progress } from "../rpc.ts"
import { logUrl } from "./file-links.ts"
import type { Job } from "../storage/schema/jobs.ts"
import { STATES } from "../storage/schema/states.ts"
import type { State } from "../storage/schema/states.ts"

const STATUS = {
  waiting: "pending",
  running: "running",
  succeeded: "success",
  failed: "failed",
  canceled: "failed",
} as const satisfies Record<State, string>

export const STATUSES = ["pending", "running", "success", "failed"] as const
export type Status = (typeof STATUSES)[number]

/** The native vocabulary's word for a state. */
function statusOf(state: State): Status {
  return STATUS[state]
}

/** The states that a native status stands for. */
export function statesOf(status: Status): State[] {
  return STATES.filter((state) => STATUS[state] === status)
}

export const dateTime = z.iso.datetime()

/** A moment as callers read it: ISO 8601 in UTC. */
export function toDateTime(moment: number): string
export function toDateTime(moment: number | null): string | null
export function toDateTime(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString()
}

const warningRecord = warning.meta({ id: "Warning" })

/** What every record says of its job: progress, attempts, warnings, moments. */
export const jobFieldSchemas = {
  progress: z.number().min(0).max(100).nullable().meta({
    description: "Percent of the work that is done; null where that is not known.",
  }),
  progress_detail: progressDetail.optional().meta({
    description:
      "What the tool of a job that runs says of its work, also where its end is not known.",
  }),
  eta_seconds: z.int().min(0).nullable(),
  attempts: z.int().min(0),
  metadata: z.record(z.string(), z.string()),
  warnings: z.array(warningRecord).meta({
    description: "What is odd about what was made, though the work succeeded.",
  }),
  started_at: dateTime.nullable(),
  completed_at: dateTime.nullable(),
  expires_at: dateTime.optional().meta({
    description: "From when on it is removed with all that it stored; without it, it is kept.",
  }),
}

export function jobFields(job: Job, progress: Progress | null) {
  return {
    progress: percentOf(job, progress),
    ...(progress?.detail && { progress_detail: progress.detail }),
    eta_seconds: progress?.etaSeconds === undefined ? null : Math.round(progress.etaSeconds),
    attempts: job.attempts,
    metadata: job.metadata ?? {},
    warnings: job.warnings ?? [],
    started_at: toDateTime(job.startedAt),
    completed_at: toDateTime(job.completedAt),
    ...expiryField(expiryOf(job)),
  }
}

/** The moment from which on a job that is over is removed with what it stored; null where it is kept. */
export function expiryOf({ completedAt, retentionMs }: Pick<Job, "completedAt" | "retentionMs">) {
  return completedAt === null || retentionMs === null ? null : completedAt + retentionMs
}

/** What a record says of the moment from which on it is removed. */
export function expiryField(expiresAt: number | null): { expires_at?: string } {
  return expiresAt === null ? {} : { expires_at: toDateTime(expiresAt) }
}

/** What the record of a job says whose tools' words are kept. */
export const logFieldSchema = {
  log: z.url().optional().meta({
    description: "The address of what ffmpeg said of it, its last 64 KB as plain text.",
  }),
}

export function logField(base: string, { id, result }: Pick<Job, "id" | "result">) {
  return result?.hasLog ? { log: logUrl(base, id) } : {}
}

/** How much of a job is done, in percent; null where that is not known of one that began. */
function percentOf(job: Job, progress: Progress | null): number | null {
  if (job.state === "succeeded") return 100
  const known = progress?.percent || job.progress || null
  if (known !== null) return roundTenth(known)
  return job.startedAt === null && progress === null ? 0 : null
}

/** What every record of the native form begins with; the error is there only where it failed. */
export const recordHeadSchemas = {
  id: z.uuid(),
  status: z.enum(STATUSES),
  created_at: dateTime,
  error: z.string().optional(),
  error_code: failureCode.optional().meta({
    description: "Why it failed; each code has a page below [/docs/errors/](/docs/errors/).",
  }),
}

/** The head of the record of a job, or of a file. */
export function recordHead(
  shown: Pick<Job, "id" | "state" | "createdAt" | "errorMessage" | "errorCode">,
): z.infer<z.ZodObject<typeof recordHeadSchemas>> {
  const status = statusOf(shown.state)
  const head = { id: shown.id, status, created_at: toDateTime(shown.createdAt) }
  if (status !== "failed") return head
  return {
    ...head,
    error: shown.errorMessage ?? "The job failed.",
    error_code: shown.errorCode ?? "internal",
  }
}

function roundTenth(value: number): number {
  return Math.round(value * 10) / 10
}
