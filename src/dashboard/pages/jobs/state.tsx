import type { JobRecord } from "../../../kinds/job-record.ts"
import { Badge, StatusBadge } from "../../components/badge.tsx"
import { formatDuration } from "../../components/format.ts"
import { LiveRegion } from "../../components/live.tsx"
import { ProgressBar } from "../../components/progress.tsx"

/** Reports whether a job has not ended yet. */
export function isJobOpen({ status }: Pick<JobRecord, "status">): boolean {
  return status === "queued" || status === "processing"
}

/** Link to a job, with its kind and the last characters of its id. */
export function JobLink({ job: { id, kind } }: { job: Pick<JobRecord, "id" | "kind"> }) {
  return (
    <a class="name" href={`/jobs/${id}`}>
      {kind} <code class="soft">{id.slice(-8)}</code>
    </a>
  )
}

/** Status of a job as a badge. A canceled job, whose status is `failed`, is shown as canceled. */
export function JobStatusBadge({ job }: { job: Pick<JobRecord, "id" | "status" | "error"> }) {
  const { id, status, error } = job
  const isCanceled = error?.code === "canceled"
  return (
    <LiveRegion id={`status-${id}`} as="span">
      {isCanceled ? <Badge tone="idle">canceled</Badge> : <StatusBadge status={status} />}
    </LiveRegion>
  )
}

/** Fields of a job that its progress shows; a batch tells no remaining time of its jobs. */
type ProgressFields = Pick<JobRecord, "id" | "status" | "progress" | "waiting_for"> &
  Partial<Pick<JobRecord, "eta_seconds">>

/**
 * Progress of a job. With `isFollowed`, live.client.js opens an event stream of the job. The events
 * of a batch also update the progress of its jobs.
 */
export function JobProgress({ job, isFollowed }: { job: ProgressFields; isFollowed: boolean }) {
  const { id, status, progress, waiting_for: awaited = [], eta_seconds: eta = null } = job
  const where = progress === null ? "ended" : `ended at ${Math.floor(progress)} %`
  const label = status === "completed" ? "done" : where
  return (
    <LiveRegion id={`progress-${id}`} as="span">
      {isJobOpen(job) ? (
        <span
          data-progress={id}
          data-follow={isFollowed ? id : undefined}
          data-state={isFollowed ? `${status} ${awaited.length}` : undefined}
          class="job-progress"
        >
          <ProgressBar percent={progress} label="Progress of the job" />{" "}
          <span class="soft" data-eta>
            {eta === null ? "" : `${formatDuration(eta)} left`}
          </span>
        </span>
      ) : (
        <span class="soft">{label}</span>
      )}
    </LiveRegion>
  )
}

/** Formats the run time of a job; a dash if the job has not started or not ended. */
export function formatRunTime(job: Pick<JobRecord, "started_at" | "completed_at">): string {
  const { started_at: started, completed_at: completed } = job
  return between(started, completed) ?? "–"
}

/** Formats the time from a job's creation to its start; a dash if the job has not started. */
export function formatWaitTime({ created_at: created, started_at: started }: JobRecord): string {
  return between(created, started) ?? "–"
}

function between(from: string | null, to: string | null): string | null {
  if (from === null || to === null) return null
  return formatDuration(Math.max(0, Date.parse(to) - Date.parse(from)) / 1000)
}
