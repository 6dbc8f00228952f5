import { sql } from "drizzle-orm"
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { compactIdColumn } from "../values/compact-text.ts"
import { compressedJsonColumn } from "../values/compressed-text.ts"

/** Batches: jobs that one request created together. */
export const batches = sqliteTable(
  "batches",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    /** Number of jobs that the request created. */
    totalJobs: integer("total_jobs").notNull(),
    /** Number of jobs that have not ended. The D1 batch that ends a job lowers the number. */
    openJobs: integer("open_jobs").notNull(),
    /** Number of jobs that failed or were canceled. */
    failedJobs: integer("failed_jobs").notNull().default(0),
    metadata: compressedJsonColumn("metadata").$type<Record<string, string>>(),
    /** URL of the webhook for the end of the last job; null without a webhook. */
    webhookUrl: text("webhook_url"),
    /** Origin at which the API client reached the service. Links in the webhook use this origin. */
    origin: text("origin").notNull(),
    /** Id of the API key that created the batch; null for a batch from the dashboard. */
    keyId: compactIdColumn("key_id"),
    /** Id of the HTTP request that created the batch, for correlation in logs. */
    requestId: compactIdColumn("request_id"),
    /** Id of the batch that this batch retries; null for other batches. */
    retryOf: text("retry_of"),
    createdAt: integer("created_at").notNull(),
    /** Time at which the last job ended; null while a job is open. */
    completedAt: integer("completed_at"),
    /**
     * Time from the batch's end to its removal, in milliseconds; null for the default retention.
     */
    retentionMs: integer("retention_ms"),
  },
  (table) => [
    index("batches_listed").on(table.accountId, table.id),
    index("batches_ended")
      .on(table.completedAt)
      .where(sql`completed_at is not null`),
  ],
)

export type Batch = typeof batches.$inferSelect
