import type { WebhookEndpoint } from "../db/schema/deliveries.ts"
import type { File } from "../db/schema/files.ts"
import type { Job } from "../db/schema/jobs.ts"
import type { Task, TaskInputRow } from "../db/schema/tasks.ts"

/**
 * Consistent read of a job with its tasks, its files, and the enabled webhook endpoints of its
 * account by id. Transitions of the job are computed from the snapshot.
 */
export type JobSnapshot = {
  job: Job
  tasks: Task[]
  files: File[]
  inputs: SnapshotInput[]
  endpoints: EnabledEndpoint[]
}

/** Enabled webhook endpoint of the account. */
export type EnabledEndpoint = Pick<WebhookEndpoint, "id" | "url" | "events" | "version">

/** Input of a task of the job. */
export type SnapshotInput = Pick<TaskInputRow, "taskId" | "key" | "fileId" | "awaitsProbe">

/**
 * File with the job that uploaded or imported it; `job` is null for an output. The file is deleted
 * at `expiresAt`, with the job that created it; null if that job is kept or not over.
 */
export type FileWithJob = { file: File; job: Job | null; expiresAt: number | null }
