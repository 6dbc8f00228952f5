import type { State } from "../contract/state.ts"
import type { Job } from "../storage/schema.ts"

/** How far a job is: `percent` from 0 to 100, `etaSeconds` where it can be told. */
export type Progress = { percent: number; etaSeconds?: number | undefined }

const STATUS = {
  waiting: "pending",
  running: "running",
  succeeded: "success",
  failed: "failed",
  canceled: "failed",
} as const satisfies Record<State, string>

/** The native vocabulary's word for a state. */
export function statusOf(state: State): (typeof STATUS)[State] {
  return STATUS[state]
}

/** What every record says of its job: progress, attempts, moments. */
export function jobFields(job: Job, progress: Progress | null) {
  return {
    progress: job.state === "succeeded" ? 100 : roundTenth(progress?.percent ?? job.progress ?? 0),
    eta_seconds: progress?.etaSeconds === undefined ? null : Math.round(progress.etaSeconds),
    attempts: job.attempts,
    metadata: job.metadata ?? {},
    started_at: toDateTime(job.startedAt),
    completed_at: toDateTime(job.completedAt),
  }
}

/** Why a job or a file failed, in the native form; nothing where it did not. */
export function failureFields(failed: {
  state: State
  errorMessage: string | null
  errorCode: string | null
}) {
  if (statusOf(failed.state) !== "failed") return {}
  return {
    error: failed.errorMessage ?? "The job failed.",
    error_code: failed.errorCode ?? "internal",
  }
}

function roundTenth(value: number): number {
  return Math.round(value * 10) / 10
}

/** A moment as callers read it: ISO 8601 in UTC. */
export function toDateTime(moment: number): string
export function toDateTime(moment: number | null): string | null
export function toDateTime(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString()
}
