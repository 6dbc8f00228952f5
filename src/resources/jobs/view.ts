import { STATES } from "../../contract/state.ts"
import type { State } from "../../contract/state.ts"
import { fileUrl } from "../../http/file-name.ts"
import { jobFields, toDateTime } from "../../http/status.ts"
import type { Progress } from "../../http/status.ts"
import type { Job, JobResult } from "../../storage/schema.ts"

const STATUS = {
  waiting: "queued",
  running: "processing",
  succeeded: "completed",
  failed: "failed",
  canceled: "failed",
} as const satisfies Record<State, string>

export const JOB_STATUSES = ["queued", "processing", "completed", "failed"] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/** The states that a job-style status stands for. */
export function statesOf(status: JobStatus): State[] {
  return STATES.filter((state) => STATUS[state] === status)
}

/** The Job record, in the job vocabulary; the same for every kind. */
export function viewJob(base: string, job: Job, progress: Progress | null) {
  return {
    id: job.id,
    kind: job.kind,
    status: STATUS[job.state],
    created_at: toDateTime(job.createdAt),
    outputs: job.result ? job.result.outputs.map((output) => viewOutput(base, output)) : [],
    ...jobFields(job, progress),
    ...(job.retryOf !== null && { retry_of: job.retryOf }),
    ...(STATUS[job.state] === "failed" && { error: errorOf(job) }),
  }
}

function errorOf(job: Job) {
  return { code: job.errorCode ?? "internal", message: job.errorMessage ?? "The job failed." }
}

function viewOutput(base: string, output: JobResult["outputs"][number]) {
  return {
    url: fileUrl(base, { id: output.fileId, name: output.name }),
    ...(output.codec !== undefined && { codec: output.codec }),
    ...(output.height !== undefined && { resolution: `${output.width}x${output.height}` }),
    ...(output.durationSeconds !== undefined && { duration_seconds: output.durationSeconds }),
    size_bytes: output.sizeBytes,
  }
}
