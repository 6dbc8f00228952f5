import { sql } from "drizzle-orm"
import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { Member } from "../../contract/bundle.ts"
import type { FailureCode } from "../../contract/failure.ts"
import type { VideoMetadata } from "../../contract/tasks/metadata.ts"
import type { NormalizeResult } from "../../contract/tasks/normalize.ts"
import type { TranscribeResult } from "../../contract/tasks/transcribe.ts"
import type { Warning } from "../../contract/warning.ts"
import type { RenditionQuality } from "../../contract/tasks/render.ts"
import { compactId } from "../compact-text.ts"
import { packedJson, stored } from "../packed-text.ts"
import { STATES, WEBHOOK_FORMS } from "./states.ts"

export const jobs = sqliteTable(
  "jobs",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    kind: text("kind").notNull(),
    state: text("state", { enum: STATES }).notNull(),
    /** Rises with every transition, which requires it as it was read (optimistic concurrency). */
    version: integer("version").notNull(),
    priority: integer("priority").notNull(),
    request: packedJson("request").notNull(),
    /** Where the whole request is when it is too large for a row; `request` then has less of it. */
    requestObjectKey: text("request_object_key"),
    result: packedJson("result").$type<JobResult>(),
    /** Where the whole result is when it is too large; `result` then has no members of bundles. */
    resultObjectKey: text("result_object_key"),
    /** Its tasks, packed, once it is over and they have no rows any more; src/storage/ended-tasks.ts. */
    endedTasks: stored("ended_tasks"),
    /** What is odd about what a job made that succeeded; null where nothing is. */
    warnings: packedJson("warnings").$type<Warning[]>(),
    /** Called when the job ends; null without a webhook. */
    webhookUrl: text("webhook_url"),
    /** Which record the webhook sends: that of the job's kind, or the Job. */
    webhookForm: text("webhook_form", { enum: WEBHOOK_FORMS }).notNull().default("native"),
    /** Under which origin its caller knows the service; records in webhooks link to it. */
    origin: text("origin").notNull(),
    /** The key that it was created with; none for one of the dashboard. */
    keyId: compactId("key_id"),
    /** The request that created it, by which logs of all parts name it. */
    requestId: compactId("request_id"),
    /** The job whose request this one does again. */
    retryOf: text("retry_of"),
    metadata: packedJson("metadata").$type<Record<string, string>>(),
    errorCode: text("error_code").$type<FailureCode>(),
    errorMessage: text("error_message"),
    errorLines: packedJson("error_lines").$type<string[]>(),
    /** How far the job was when it ended, in percent; while it runs its dispatcher knows. */
    progress: real("progress"),
    processingMs: integer("processing_ms").notNull().default(0),
    attempts: integer("attempts").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    acceptedAt: integer("accepted_at"),
    startedAt: integer("started_at"),
    completedAt: integer("completed_at"),
    /** When what a fetch stored was removed, its record staying; none where it is kept. */
    mediaRemovedAt: integer("media_removed_at"),
    /** How long after its end it is removed with all that it stored; none where it is not. */
    retentionMs: integer("retention_ms"),
  },
  (table) => [
    // Lists read each state by itself and merge them, so that one index serves them with the filter
    // of states and without.
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
  ],
)

/** Creates that a caller may send again: the same key and body mean the same job for a day. */
export const idempotency = sqliteTable(
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

/** The last metadata job of each URL that an account asked for, which answers for a while. */
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

/** What a job made, kept with it: facts of each output as they were at its end. */
export type JobResult = {
  outputs: {
    key: string
    fileId: string
    name: string
    sizeBytes: number
    contentType: string
    /** Of the bytes, where the record of the kind shows it. */
    sha256?: string
    codec?: string
    durationSeconds?: number
    /** The picture as it is shown, in pixels, and how it is turned for that, in degrees clockwise. */
    width?: number
    height?: number
    rotation?: number
    /** Of a rendition whose quality was measured. */
    quality?: RenditionQuality
    /** Made on the way to other outputs, and no output of the Job. */
    isIntermediate?: boolean
    /** The member of a bundle that a player begins with. */
    playlist?: string
    /** The members of a bundle, which rows and lists do without. */
    files?: Omit<Member, "crc32">[]
  }[]
  /** Whether what its tools said is kept with a task of it, also of a job that failed. */
  hasLog?: boolean
  /** What a fetch found beside its outputs. */
  fetched?: Fetched
  /** What a lookup found. */
  metadata?: VideoMetadata
  /** What a normalization measured and did. */
  normalized?: Omit<NormalizeResult, "kind" | "outputs" | "warnings">
  /** What a transcription heard; lists do without a long text. */
  transcribed?: Pick<TranscribeResult, "language" | "duration_seconds"> & { text?: string }
}

type Fetched = {
  title: string | null
  durationSeconds: number | null
  /** Which outputs are subtitles. */
  subtitles: { key: string; language: string }[]
}

export type Job = typeof jobs.$inferSelect
