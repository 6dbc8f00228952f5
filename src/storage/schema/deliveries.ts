import { sql } from "drizzle-orm"
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core"
import { packedText } from "../packed-text.ts"
import { DELIVERY_STATES } from "./states.ts"

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
    body: packedText("body").notNull(),
    /** Where the body is when it is too large for a row; `body` is then empty. */
    bodyObjectKey: text("body_object_key"),
    state: text("state", { enum: DELIVERY_STATES }).notNull(),
    /** Tries of this round; a replay begins another. */
    tries: integer("tries").notNull().default(0),
    /** Its first try, of which most have no other; those after it have rows of their own. */
    firstTry: text("first_try", { mode: "json" }).$type<FirstTry>(),
    nextTryAt: integer("next_try_at").notNull(),
    createdAt: integer("created_at").notNull(),
    completedAt: integer("completed_at"),
  },
  (table) => [
    index("deliveries_listed").on(table.accountId, table.state, table.id),
    uniqueIndex("deliveries_of_job").on(table.jobId),
    index("deliveries_ended")
      .on(table.completedAt)
      .where(sql`completed_at is not null`),
    index("deliveries_due")
      .on(table.nextTryAt)
      .where(sql`state = 'waiting'`),
    index("deliveries_waiting")
      .on(table.accountId, table.url)
      .where(sql`state = 'waiting'`),
  ],
)

/** Moment, milliseconds, status, error and answer of a try, as `deliveryTries` has them. */
export type FirstTry = [number, number, number | null, string | null, string | null]

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

export type Delivery = typeof deliveries.$inferSelect
export type DeliveryTry = typeof deliveryTries.$inferSelect
