import type { TaskSecrets, TaskWork } from "../contract/task.ts"
import { hasApiKeyFormat } from "../platform/crypto/api-key.ts"
import { newId } from "../platform/ids.ts"
import type { File, files } from "../db/schema/files.ts"
import type { jobs } from "../db/schema/jobs.ts"
import { isFinalState } from "./states.ts"
import type { FileSource, WebhookForm } from "./states.ts"
import type { tasks } from "../db/schema/tasks.ts"
import type { Upload } from "../db/schema/uploads.ts"

type NewRow<Row extends { accountId: string }> = Omit<Row, "accountId">

/** Idempotency key of a request that creates a job, and the hash of the request's body. */
export type IdempotencyKeyUse = { key: string; bodyHash: string }

/**
 * New metadata lookup of a URL. `replaces` is the id of the job that last looked up the same URL;
 * null if the URL was not looked up before.
 */
export type NewMetadataLookup = { urlHash: string; replaces: string | null }

/**
 * New task with its inputs and the name of its pool. `blocked` is true while an input of the task
 * is not stored yet.
 */
export type TaskDraft = {
  pool: string
  task: NewRow<typeof tasks.$inferInsert>
  inputs: { key: string; fileId: string; awaitsProbe?: boolean }[]
  blocked: boolean
  /** Secrets of the task for its runner. No record shows the secrets. */
  secrets?: TaskSecrets | null
  /** Encrypted secrets of the task, for the database column `sealed`. */
  sealedSecrets?: string
}

/**
 * Rows for an accepted request: a job, its tasks, and the files that the job will create.
 * `uploadId` is the upload whose object becomes a file of the job.
 */
export type JobDraft = {
  job: NewRow<typeof jobs.$inferInsert>
  tasks: TaskDraft[]
  files: NewRow<typeof files.$inferInsert>[]
  uploadId?: string
  /**
   * Rows in `uploads` for the job's large values in R2. The batch that inserts the job deletes
   * these rows, because the job then owns the objects.
   */
  valueUploads?: Pick<Upload, "id">[]
  /**
   * Idempotency key of the request that creates the job; null or undefined if the request has none.
   */
  once?: IdempotencyKeyUse | null
  /** Metadata lookup of a URL that the job runs; absent for other jobs. */
  lookup?: NewMetadataLookup
  /** Ids of the jobs whose outputs the job waits for. */
  neededJobIds?: readonly string[]
}

/** Properties that every new job has, independent of its kind. */
export type JobProperties = {
  /** Origin of the service, from which the URLs in records are built. */
  origin: string
  now: number
  priority: number
  metadata: Record<string, string> | null
  webhookUrl: string | null
  webhookForm: WebhookForm
  /**
   * Retention after the job's end, in milliseconds; null or undefined for the default retention of
   * the deployment.
   */
  retentionMs?: number | null
  /** Whether the job, when it succeeds, publishes its files at URLs that need no API key. */
  publish?: boolean | null
  retryOf?: string
}

/**
 * Request fields that have columns of their own in the job's row, so that the stored request omits
 * them.
 */
export const REQUEST_FIELDS_IN_COLUMNS = [
  "webhook",
  "webhook_url",
  "metadata",
  "priority",
  "expires_in",
  "publish",
] as const

const columnFields: ReadonlySet<string> = new Set(REQUEST_FIELDS_IN_COLUMNS)

/** Returns the row of a new job. */
export function draftJobRow(
  facts: JobProperties,
  fields: { id: string; kind: string; request: unknown },
) {
  const { origin, priority, metadata, webhookUrl, webhookForm, retryOf = null } = facts
  const { retentionMs = null, publish = null } = facts
  return {
    ...fields,
    request: redactRequest(fields.request),
    origin,
    priority,
    metadata,
    webhookUrl,
    webhookForm,
    retentionMs,
    publish: publish || null,
    retryOf,
    state: "waiting" as const,
    version: 0,
    createdAt: facts.now,
  }
}

/**
 * Returns the draft of a new task. `blocked` tells whether the file of an input is not stored yet.
 */
export function draftTask(
  facts: JobProperties,
  fields: { id?: string; jobId: string; work: TaskWork; weight?: number } & Omit<TaskDraft, "task">,
): TaskDraft {
  const { id = newId(), jobId, work, weight = 1, ...draft } = fields
  const { priority, now: createdAt } = facts
  const { pool } = draft
  const state = "waiting" as const
  return { ...draft, task: { id, jobId, state, priority, weight, pool, work, createdAt } }
}

/**
 * Returns the inputs of a task, and `blocked`: whether the task must wait because the file of an
 * input is not stored yet. An open job still writes such a file, or this job imports the file first
 * (`source` is set).
 */
export function draftInputs(
  inputs: {
    key: string
    fileId: string
    file: File | null
    source?: object
    awaitsProbe?: boolean
  }[],
): Pick<TaskDraft, "inputs" | "blocked"> {
  return {
    inputs: inputs.map(({ key, fileId, source, awaitsProbe = source !== undefined }) => {
      return { key, fileId, awaitsProbe }
    }),
    blocked: inputs.some(
      ({ file, source }) => source !== undefined || (file !== null && !isFinalState(file.state)),
    ),
  }
}

/** Returns the row of a file that a job will create. */
export function draftOutputFile(
  facts: JobProperties,
  fields: { jobId: string; outputKey: string; name: string; source?: FileSource },
) {
  return {
    source: "output" as const,
    ...fields,
    id: newId(),
    state: "waiting" as const,
    createdAt: facts.now,
  }
}

/** Adds to the job's row the ids of the output files that the API will list, by output key. */
export function addFileIds(draft: JobDraft): JobDraft {
  const made = draft.files.flatMap(({ id, outputKey, source }) =>
    source === "output" && outputKey ? [[outputKey, id] as const] : [],
  )
  const fileIds = made.length === 0 ? null : Object.fromEntries(made)
  return { ...draft, job: { ...draft.job, fileIds } }
}

/**
 * Returns a request as the job stores and shows it: without fields that have columns of their own,
 * and with redacted API keys.
 */
function redactRequest(request: unknown): unknown {
  const fields = request instanceof Object ? Object.entries(request) : []
  const storedFields = fields.filter(([name]) => !columnFields.has(name))
  const text = JSON.stringify(Object.fromEntries(storedFields))
  return JSON.parse(
    text.replace(/lathe_[0-9A-Za-z]{40}/g, (key) =>
      hasApiKeyFormat(key) ? "lathe_redacted" : key,
    ),
  )
}
