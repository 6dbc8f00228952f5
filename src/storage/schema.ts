import { sql } from "drizzle-orm"
import {
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core"
import type { Bundle, Member } from "../contract/bundle.ts"
import type { ProbeResult } from "../contract/probe.ts"
import type { TaskWork } from "../contract/task.ts"
import type { FailureCode } from "../contract/failure.ts"
import { DELIVERY_STATES, FILE_SOURCES, JOB_KINDS, STATES } from "../contract/state.ts"
import { PLANS } from "../contract/plan.ts"

// Moments are milliseconds since 1970, UTC.

export const accounts = sqliteTable("accounts", {
  id: text("id").primaryKey(),
  name: text("name").notNull().unique(),
  plan: text("plan", { enum: PLANS }).notNull(),
  /** Signs the account's webhooks: `whsec_` and base64. */
  webhookSecret: text("webhook_secret").notNull(),
  /** Signs beside the new one for a day after a rotation. */
  webhookSecretBefore: text("webhook_secret_before"),
  webhookSecretRotatedAt: integer("webhook_secret_rotated_at"),
  createdAt: integer("created_at").notNull(),
})

export const keys = sqliteTable(
  "keys",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id),
    /** SHA-256 of the key, hexadecimal. */
    hash: text("hash").notNull(),
    /** The first 8 characters, so that a person can tell keys apart. */
    prefix: text("prefix").notNull(),
    createdAt: integer("created_at").notNull(),
    revokedAt: integer("revoked_at"),
  },
  (table) => [uniqueIndex("keys_hash").on(table.hash)],
)

export const jobs = sqliteTable(
  "jobs",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    kind: text("kind", { enum: JOB_KINDS }).notNull(),
    state: text("state", { enum: STATES }).notNull(),
    /** Rises with every move; a batch that moves the job requires it as it was read. */
    version: integer("version").notNull(),
    priority: integer("priority").notNull(),
    request: text("request", { mode: "json" }).$type<unknown>().notNull(),
    result: text("result", { mode: "json" }).$type<JobResult>(),
    /** Told of the job's end; none where nobody is. */
    webhookUrl: text("webhook_url"),
    /** Under which origin its caller knows the service; records in webhooks link to it. */
    origin: text("origin").notNull(),
    /** The job whose request this one does again. */
    retryOf: text("retry_of"),
    metadata: text("metadata", { mode: "json" }).$type<Record<string, string>>(),
    errorCode: text("error_code").$type<FailureCode>(),
    errorMessage: text("error_message"),
    errorLines: text("error_lines", { mode: "json" }).$type<string[]>(),
    /** How far the job was when it ended, in percent; while it runs its dispatcher knows. */
    progress: real("progress"),
    processingMs: integer("processing_ms").notNull().default(0),
    attempts: integer("attempts").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    acceptedAt: integer("accepted_at"),
    startedAt: integer("started_at"),
    completedAt: integer("completed_at"),
  },
  (table) => [
    index("jobs_listed").on(table.accountId, table.id),
    index("jobs_listed_by_kind").on(table.accountId, table.kind, table.id),
    index("jobs_open")
      .on(table.accountId)
      .where(sql`state in ('waiting', 'running')`),
    index("jobs_finished")
      .on(table.completedAt)
      .where(sql`completed_at is not null`),
    index("jobs_unaccepted")
      .on(table.createdAt)
      .where(sql`accepted_at is null and state in ('waiting', 'running')`),
  ],
)

export const tasks = sqliteTable(
  "tasks",
  {
    id: text("id").primaryKey(),
    jobId: text("job_id").notNull(),
    accountId: text("account_id").notNull(),
    state: text("state", { enum: STATES }).notNull(),
    /** Number of the dispatch; every write that comes back is checked against it. */
    fence: integer("fence").notNull().default(0),
    priority: integer("priority").notNull(),
    work: text("work", { mode: "json" }).$type<TaskWork>().notNull(),
    slot: text("slot"),
    grant: integer("grant"),
    failures: integer("failures").notNull().default(0),
    interruptions: integer("interruptions").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    completedAt: integer("completed_at"),
  },
  (table) => [
    index("tasks_of_job").on(table.jobId),
    index("tasks_open")
      .on(table.accountId)
      .where(sql`state in ('waiting', 'running')`),
  ],
)

export const taskInputs = sqliteTable(
  "task_inputs",
  {
    taskId: text("task_id").notNull(),
    key: text("key").notNull(),
    fileId: text("file_id").notNull(),
    /** Where the bytes are, noted when the task is claimed: a file deleted later is read to its end. */
    objectKey: text("object_key"),
  },
  (table) => [
    primaryKey({ columns: [table.taskId, table.key] }),
    index("task_inputs_of_file").on(table.fileId),
  ],
)

export const files = sqliteTable(
  "files",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    jobId: text("job_id").notNull(),
    /** The key of the command's output that this file is; none for an upload. */
    outputKey: text("output_key"),
    name: text("name").notNull(),
    source: text("source", { enum: FILE_SOURCES }).notNull(),
    state: text("state", { enum: STATES }).notNull(),
    objectKey: text("object_key"),
    sizeBytes: integer("size_bytes"),
    contentType: text("content_type"),
    probe: text("probe", { mode: "json" }).$type<ProbeResult>(),
    /** Where the whole probe is when it is too big for a row; `probe` then has no streams. */
    probeObjectKey: text("probe_object_key"),
    probeError: text("probe_error"),
    /** What a file of several files consists of; none for a plain one. */
    bundle: text("bundle", { mode: "json" }).$type<Bundle>(),
    errorCode: text("error_code").$type<FailureCode>(),
    errorMessage: text("error_message"),
    createdAt: integer("created_at").notNull(),
    completedAt: integer("completed_at"),
  },
  (table) => [
    index("files_of_job").on(table.jobId),
    index("files_listed")
      .on(table.accountId, table.id)
      .where(sql`object_key is not null`),
  ],
)

/** Bytes on their way into R2, so that whatever is abandoned can be found and removed. */
export const uploads = sqliteTable(
  "uploads",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    objectKey: text("object_key").notNull(),
    /** R2's multipart id; none while the bytes fit one put. */
    multipartId: text("multipart_id"),
    /** The task that writes it; none for a caller's upload. */
    taskId: text("task_id"),
    createdAt: integer("created_at").notNull(),
    dyingAt: integer("dying_at"),
  },
  (table) => [
    index("uploads_by_age").on(table.createdAt),
    index("uploads_dying")
      .on(table.dyingAt)
      .where(sql`dying_at is not null`),
    index("uploads_object").on(table.objectKey),
  ],
)

/** Prefixes in R2 that nobody owns any more; each is swept twice with an hour between. */
export const garbage = sqliteTable(
  "garbage",
  {
    prefix: text("prefix").primaryKey(),
    /** A deleted file's objects wait until no running task names the file. */
    fileId: text("file_id"),
    dueAt: integer("due_at").notNull(),
    passes: integer("passes").notNull().default(0),
  },
  (table) => [index("garbage_due").on(table.dueAt)],
)

/** One webhook to one URL: for one end of a job, or a test event. */
export const deliveries = sqliteTable(
  "deliveries",
  {
    /** The webhook-id, the same over all tries. */
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    jobId: text("job_id"),
    type: text("type").notNull(),
    url: text("url").notNull(),
    /** The very bytes of every try. */
    body: text("body").notNull(),
    state: text("state", { enum: DELIVERY_STATES }).notNull(),
    /** Tries of this round; a replay begins another. */
    tries: integer("tries").notNull().default(0),
    nextTryAt: integer("next_try_at").notNull(),
    createdAt: integer("created_at").notNull(),
    completedAt: integer("completed_at"),
  },
  (table) => [
    index("deliveries_listed").on(table.accountId, table.id),
    uniqueIndex("deliveries_of_job").on(table.jobId),
    index("deliveries_ended")
      .on(table.completedAt)
      .where(sql`completed_at is not null`),
    index("deliveries_due")
      .on(table.nextTryAt)
      .where(sql`state = 'waiting'`),
  ],
)

export const deliveryTries = sqliteTable(
  "delivery_tries",
  {
    deliveryId: text("delivery_id").notNull(),
    number: integer("number").notNull(),
    startedAt: integer("started_at").notNull(),
    durationMs: integer("duration_ms").notNull(),
    /** The receiver's status; none where it did not answer. */
    status: integer("status"),
    error: text("error"),
    /** The first characters of the receiver's answer. */
    answer: text("answer"),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.number] })],
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

/** What a job made, kept with it: facts of each output as they were at its end. */
export type JobResult = {
  outputs: {
    key: string
    fileId: string
    name: string
    sizeBytes: number
    contentType: string
    codec?: string
    durationSeconds?: number
    width?: number
    height?: number
    /** The members of a bundle; lists leave them out where they are many. */
    files?: Omit<Member, "crc32">[]
  }[]
}

export type Account = typeof accounts.$inferSelect
export type Key = typeof keys.$inferSelect
export type Job = typeof jobs.$inferSelect
export type Task = typeof tasks.$inferSelect
export type TaskInputRow = typeof taskInputs.$inferSelect
export type File = typeof files.$inferSelect
export type Delivery = typeof deliveries.$inferSelect
export type DeliveryTry = typeof deliveryTries.$inferSelect
export type Upload = typeof uploads.$inferSelect
