import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

/** What an account used on a day, by key. */
export const usageDays = sqliteTable(
  "usage_days",
  {
    accountId: text("account_id").notNull(),
    /** `YYYY-MM-DD`, UTC. */
    day: text("day").notNull(),
    /** Empty for what was done in the dashboard. */
    keyId: text("key_id").notNull(),
    requests: integer("requests").notNull().default(0),
    /** Jobs that were accepted. */
    jobs: integer("jobs").notNull().default(0),
    /** Media that jobs were to bring in from URLs. */
    fetches: integer("fetches").notNull().default(0),
    succeededJobs: integer("succeeded_jobs").notNull().default(0),
    /** Failed and canceled ones, on the day of their end. */
    failedJobs: integer("failed_jobs").notNull().default(0),
    processingMs: integer("processing_ms").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.day, table.keyId] }),
    index("usage_days_by_day").on(table.day),
  ],
)

/** Bytes that an account stores; triggers on `files` keep it, so that no write forgets it. */
export const accountStorage = sqliteTable("account_storage", {
  accountId: text("account_id").primaryKey(),
  bytes: integer("bytes").notNull(),
})
