import { sql } from "drizzle-orm"
import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { BundleMember } from "../../contract/bundle.ts"
import type { FailureCode } from "../../contract/failure.ts"
import type { VideoMetadata } from "../../contract/tasks/metadata.ts"
import type { NormalizeResult } from "../../contract/tasks/normalize.ts"
import type { TranscribeResult } from "../../contract/tasks/transcribe.ts"
import type { Warning } from "../../contract/warning.ts"
import type { RenditionQuality } from "../../contract/tasks/render.ts"
import { compactIdColumn } from "../values/compact-text.ts"
import { compressedJsonColumn, rawCompressedColumn } from "../values/compressed-text.ts"
import { STATES, WEBHOOK_FORMS } from "../../domain/states.ts"

export const jobs = sqliteTable(
  "jobs",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    kind: text("kind").notNull(),
    state: text("state", { enum: STATES }).notNull(),
    /**
     * Version of the job. Each transition raises the version. A transition is written only if the
     * job still has the version from which the transition was computed (optimistic concurrency).
     */
    version: integer("version").notNull(),
    priority: integer("priority").notNull(),
    request: compressedJsonColumn("request").notNull(),
    /**
     * R2 key of a request that is too large for the row; `request` then holds only the request's
     * short fields.
     */
    requestObjectKey: text("request_object_key"),
    result: compressedJsonColumn("result").$type<JobResult>(),
    /**
     * R2 key of a result that is too large for the row; `result` then omits the members of bundles.
     */
    resultObjectKey: text("result_object_key"),
    /**
     * Ids of the output files that the API lists as files of the account, by output key such as
     * `out_1`; null if the job has none.
     */
    fileIds: compressedJsonColumn("file_ids").$type<Record<string, string>>(),
    /**
     * True if the job, when it succeeds, publishes its files at URLs that need no key; else null.
     */
    publish: integer("publish", { mode: "boolean" }),
    /**
     * Tasks of a finished job as compressed JSON. The end of the job deletes the rows of the tasks
     * (src/db/jobs/ended-tasks.ts).
     */
    endedTasks: rawCompressedColumn("ended_tasks"),
    /**
     * Warnings about the request, and after the job's end also about the outputs. Null if there are
     * no warnings.
     */
    warnings: compressedJsonColumn("warnings").$type<Warning[]>(),
    /** URL of the webhook that the request set for the job's end; null without a webhook. */
    webhookUrl: text("webhook_url"),
    /**
     * Format of the job in the webhook: `native` is the API's record for this kind of job, and
     * `job` is the Job record that all kinds have in common.
     */
    webhookForm: text("webhook_form", { enum: WEBHOOK_FORMS }).notNull().default("native"),
    /**
     * Origin at which the caller reached the service. Links in the webhook begin with this origin.
     */
    origin: text("origin").notNull(),
    /** Id of the API key that created the job; null for a job from the dashboard. */
    keyId: compactIdColumn("key_id"),
    /** Id of the HTTP request that created the job, for correlation in logs. */
    requestId: compactIdColumn("request_id"),
    /** Id of the job that this job retries; null if this job is not a retry. */
    retryOf: text("retry_of"),
    metadata: compressedJsonColumn("metadata").$type<Record<string, string>>(),
    errorCode: text("error_code").$type<FailureCode>(),
    errorMessage: text("error_message"),
    errorLines: compressedJsonColumn("error_lines").$type<string[]>(),
    /**
     * Progress of the finished job in percent. The dispatcher holds the progress of an open job.
     */
    progress: real("progress"),
    processingMs: integer("processing_ms").notNull().default(0),
    attempts: integer("attempts").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    acceptedAt: integer("accepted_at"),
    startedAt: integer("started_at"),
    completedAt: integer("completed_at"),
    /**
     * Time at which the media of a fetch job were removed although the job's row stays. Null if the
     * media are still stored.
     */
    mediaRemovedAt: integer("media_removed_at"),
    /**
     * Time from the job's end to its removal, in milliseconds; null if the default retention
     * applies.
     */
    retentionMs: integer("retention_ms"),
    /**
     * Ids of the open jobs whose outputs this job reads. The end of each such job removes its id.
     * Null if the inputs of this job were complete at its creation.
     */
    waitingFor: text("waiting_for", { mode: "json" }).$type<string[]>(),
    /** Id of the batch that contains the job; null without a batch. */
    batchId: text("batch_id"),
    /** Name of the job in its batch. */
    batchName: text("batch_name"),
  },
  (table) => [
    // A list of jobs reads each state separately and merges the states. The same index therefore
    // serves lists with and without a filter by state.
    index("jobs_listed")
      .on(table.accountId, table.state, table.id)
      .where(sql`kind <> 'metadata'`),
    index("jobs_listed_by_kind").on(table.accountId, table.kind, table.state, table.id),
    index("jobs_open")
      .on(table.accountId, table.state)
      .where(sql`state in ('waiting', 'running')`),
    index("jobs_finished")
      .on(table.completedAt)
      .where(sql`completed_at is not null and retention_ms is null`),
    index("jobs_expiring")
      .on(sql`completed_at + retention_ms`)
      .where(sql`retention_ms is not null and completed_at is not null`),
    index("jobs_unaccepted")
      .on(table.createdAt)
      .where(sql`accepted_at is null and state in ('waiting', 'running')`),
    index("jobs_of_batch")
      .on(table.batchId, table.id)
      .where(sql`batch_id is not null`),
  ],
)

/**
 * Dependencies between jobs: the job `job_id` reads outputs of the job `needed_job_id`. A trigger
 * deletes the rows when the job that reads is deleted.
 */
export const jobDependencies = sqliteTable(
  "job_dependencies",
  {
    jobId: text("job_id").notNull(),
    neededJobId: text("needed_job_id").notNull(),
    accountId: text("account_id").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.neededJobId] }),
    index("job_dependencies_of_needed").on(table.neededJobId),
    index("job_dependencies_of_account").on(table.accountId),
  ],
)

/**
 * Key-value pairs of the jobs' metadata, by which lists filter jobs. A trigger deletes the pairs
 * with the job's row.
 */
export const jobMetadata = sqliteTable(
  "job_metadata",
  {
    jobId: text("job_id").notNull(),
    accountId: text("account_id").notNull(),
    name: text("name").notNull(),
    value: text("value").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.name] }),
    index("job_metadata_listed").on(table.accountId, table.name, table.value, table.jobId),
  ],
)

/**
 * Idempotency keys of requests. For a day, a request with the same key and body returns the job of
 * the first request.
 */
export const idempotencyKeys = sqliteTable(
  "idempotency",
  {
    accountId: text("account_id").notNull(),
    key: text("key").notNull(),
    bodyHash: text("body_hash").notNull(),
    jobId: text("job_id").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.key] }),
    index("idempotency_by_age").on(table.createdAt),
  ],
)

/**
 * Last metadata lookup for each URL of an account. For a minute, further requests for the URL get
 * the same result.
 */
export const metadataLookups = sqliteTable(
  "metadata_lookups",
  {
    accountId: text("account_id").notNull(),
    /** SHA-256 of the URL, hexadecimal. */
    urlHash: text("url_hash").notNull(),
    jobId: text("job_id").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.urlHash] }),
    index("metadata_lookups_by_age").on(table.createdAt),
  ],
)

/** Result of a job. The properties of output files are those at the job's end. */
export type JobResult = {
  outputs: {
    key: string
    fileId: string
    name: string
    sizeBytes: number
    contentType: string
    /** SHA-256 of the file; absent if the transfer computed no hash. */
    sha256?: string
    codec?: string
    durationSeconds?: number
    /**
     * Width and height of the picture as displayed, in pixels, and its clockwise rotation in
     * degrees.
     */
    width?: number
    height?: number
    rotation?: number
    /** Measured quality of a rendition; absent if the job measured no quality. */
    quality?: RenditionQuality
    /**
     * Whether the output is only an input of other outputs, such as a segment. Callers do not see
     * such outputs.
     */
    isIntermediate?: boolean
    /** Name of the ZIP archive of a bundle; absent for an output that is a single file. */
    archive?: string
    /** Name of the member of a playlist bundle that a player opens first. */
    playlist?: string
    /** Members of a bundle. Rows with large results, and lists of jobs, omit the members. */
    files?: Omit<BundleMember, "crc32">[]
  }[]
  /** Whether the log of FFmpeg or another tool is stored. A failed job may also have a log. */
  hasLog?: boolean
  /** Text that a command wrote to standard output. Lists of jobs omit long texts. */
  stdout?: string
  /** Metadata of the media that a fetch job downloaded. */
  fetched?: Fetched
  /** Metadata of a web page's media, which a metadata lookup read. */
  metadata?: VideoMetadata
  /** Loudness measurements of a normalization job, and the changes that the job made. */
  normalized?: Omit<NormalizeResult, "kind" | "outputs" | "warnings">
  /** Result of a transcription job. Lists of jobs omit `text` if the result is large. */
  transcribed?: Pick<TranscribeResult, "language" | "duration_seconds"> & { text?: string }
}

type Fetched = {
  title: string | null
  durationSeconds: number | null
  /** Subtitle outputs of the fetch, by output key, with their languages. */
  subtitles: { key: string; language: string }[]
}

export type Job = typeof jobs.$inferSelect
