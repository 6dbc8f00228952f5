import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

/** Usage of each account by day and API key. */
export const usageDays = sqliteTable(
  "usage_days",
  {
    accountId: text("account_id").notNull(),
    /** Day in UTC, in the format `YYYY-MM-DD`. */
    day: text("day").notNull(),
    /** Id of the API key; empty for requests from the dashboard. */
    keyId: text("key_id").notNull(),
    requests: integer("requests").notNull().default(0),
    /** Number of accepted jobs. */
    jobs: integer("jobs").notNull().default(0),
    /** Number of media files that jobs downloaded from URLs. */
    fetches: integer("fetches").notNull().default(0),
    succeededJobs: integer("succeeded_jobs").notNull().default(0),
    /** Number of failed and canceled jobs, counted on the day of their end. */
    failedJobs: integer("failed_jobs").notNull().default(0),
    processingMs: integer("processing_ms").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.day, table.keyId] }),
    index("usage_days_by_day").on(table.day),
  ],
)

/** Bytes of the files that each account stores. Triggers on the table `files` update the sum. */
export const accountStorage = sqliteTable("account_storage", {
  accountId: text("account_id").primaryKey(),
  bytes: integer("bytes").notNull(),
})
