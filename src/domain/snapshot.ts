import type { WebhookEndpoint } from "../db/schema/deliveries.ts"
import type { File } from "../db/schema/files.ts"
import type { Job } from "../db/schema/jobs.ts"
import type { Task, TaskInputRow } from "../db/schema/tasks.ts"

/**
 * Consistent read of a job with its tasks, files and inputs, and with the enabled webhook endpoints
 * of its account. Transitions of the job are computed from the snapshot.
 */
export type JobSnapshot = {
  job: Job
  tasks: Task[]
  files: File[]
  inputs: SnapshotInput[]
  endpoints: EnabledEndpoint[]
}

/** Enabled webhook endpoint of the account, with the fields that a transition needs. */
export type EnabledEndpoint = Pick<WebhookEndpoint, "id" | "url" | "events" | "version">

/** Input of a task in a job's snapshot. */
export type SnapshotInput = Pick<TaskInputRow, "taskId" | "key" | "fileId" | "awaitsProbe">

/**
 * File, with the job that was created only to upload or import it; `job` is null for other files.
 * `expiresAt` is the time at which the file is deleted together with the job that wrote it, or null
 * if that job has no expiry or has not ended.
 */
export type FileWithJob = { file: File; job: Job | null; expiresAt: number | null }
