import type { JobRecord } from "../../../kinds/job-record.ts"
import { Badge, StatusBadge } from "../../components/badge.tsx"
import { formatDuration } from "../../components/format.ts"
import { Live } from "../../components/live.tsx"
import { Progress } from "../../components/progress.tsx"

/** Whether a job is not over yet. */
export function isOpen({ status }: JobRecord): boolean {
  return status === "queued" || status === "processing"
}

/** A job by its kind and the end of its id, which tells it apart. */
export function JobLink({ job: { id, kind } }: { job: Pick<JobRecord, "id" | "kind"> }) {
  return (
    <a class="name" href={`/jobs/${id}`}>
      {kind} <code class="soft">{id.slice(-8)}</code>
    </a>
  )
}

/** The status of a job; one that was canceled says so. */
export function JobStatus({ job }: { job: JobRecord }) {
  const { id, status, error } = job
  const isCanceled = error?.code === "canceled"
  return (
    <Live id={`status-${id}`} as="span">
      {isCanceled ? <Badge tone="idle">canceled</Badge> : <StatusBadge status={status} />}
    </Live>
  )
}

/** How far a job is; its events move it in its place where it is followed. */
export function JobProgress({ job, isFollowed }: { job: JobRecord; isFollowed: boolean }) {
  const { id, progress, eta_seconds: eta } = job
  const where = progress === null ? "ended" : `ended at ${Math.floor(progress)} %`
  const ended = job.status === "completed" ? "done" : where
  return (
    <Live id={`progress-${id}`} as="span">
      {isOpen(job) ? (
        <span data-follow={isFollowed ? id : undefined} class="job-progress">
          <Progress percent={progress} label="Progress of the job" />{" "}
          <span class="soft" data-eta>
            {eta === null ? "" : `${formatDuration(eta)} left`}
          </span>
        </span>
      ) : (
        <span class="soft">{ended}</span>
      )}
    </Live>
  )
}

/** How long a job ran, in words; a dash for one that did not begin, or still does. */
export function ranFor({ started_at: started, completed_at: completed }: JobRecord): string {
  return between(started, completed) ?? "–"
}

/** How long a job waited for its beginning. */
export function waitedFor({ created_at: created, started_at: started }: JobRecord): string {
  return between(created, started) ?? "–"
}

function between(from: string | null, to: string | null): string | null {
  if (from === null || to === null) return null
  return formatDuration(Math.max(0, Date.parse(to) - Date.parse(from)) / 1000)
}
