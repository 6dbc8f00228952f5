import { sql } from "drizzle-orm"
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core"
import { compressedTextColumn } from "../values/compressed-text.ts"
import { DELIVERY_STATES } from "../../domain/states.ts"

/**
 * Webhook endpoints of accounts. An endpoint receives the events of all jobs whose event types it
 * names.
 */
export const webhookEndpoints = sqliteTable(
  "webhook_endpoints",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    url: text("url").notNull(),
    /**
     * Event types that the endpoint receives, such as `command.succeeded` (job kind and state). `*`
     * in either place stands for any.
     */
    events: text("events", { mode: "json" }).$type<string[]>().notNull(),
    description: text("description").notNull(),
    enabled: integer("enabled", { mode: "boolean" }).notNull(),
    /**
     * Time at which a 410 response of the receiver disabled the endpoint; null if no 410 response
     * disabled it.
     */
    goneAt: integer("gone_at"),
    secret: text("secret").notNull(),
    /**
     * Secret before the last rotation. The former secret also signs events for a day after the
     * rotation.
     */
    secretBefore: text("secret_before"),
    secretRotatedAt: integer("secret_rotated_at"),
    /** Version of the row, which rises with each change of the URL, the events or `enabled`. */
    version: integer("version").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [index("webhook_endpoints_of_account").on(table.accountId, table.id)],
)

export type WebhookEndpoint = typeof webhookEndpoints.$inferSelect

/** Deliveries of webhooks. A delivery reports the end of a job, or a test event, to one URL. */
export const deliveries = sqliteTable(
  "deliveries",
  {
    /** Id of the delivery, which every try sends in the header `webhook-id`. */
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    jobId: text("job_id"),
    /**
     * Id of the endpoint that receives the event; empty if the request of the job named the
     * webhook's URL.
     */
    endpointId: text("endpoint_id").notNull().default(""),
    type: text("type").notNull(),
    url: text("url").notNull(),
    /** Request body of the webhook, the same for every try. */
    body: compressedTextColumn("body").notNull(),
    /** R2 key of a webhook body that is too large for the row; `body` is then empty. */
    bodyObjectKey: text("body_object_key"),
    state: text("state", { enum: DELIVERY_STATES }).notNull(),
    /** Number of tries since the delivery began, or since its last replay. */
    tries: integer("tries").notNull().default(0),
    /**
     * Result of the first try. Most deliveries need only one try; further tries have rows in
     * `delivery_tries`.
     */
    firstTry: text("first_try", { mode: "json" }).$type<FirstTryColumns>(),
    nextTryAt: integer("next_try_at").notNull(),
    createdAt: integer("created_at").notNull(),
    completedAt: integer("completed_at"),
  },
  (table) => [
    index("deliveries_listed").on(table.accountId, table.state, table.id),
    uniqueIndex("deliveries_of_job").on(table.jobId, table.endpointId),
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

/**
 * First try of a delivery as values of the columns of `delivery_tries`: start time, duration in
 * milliseconds, status, error and answer.
 */
export type FirstTryColumns = [number, number, number | null, string | null, string | null]

export const deliveryTries = sqliteTable(
  "delivery_tries",
  {
    deliveryId: text("delivery_id").notNull(),
    number: integer("number").notNull(),
    startedAt: integer("started_at").notNull(),
    durationMs: integer("duration_ms").notNull(),
    /** HTTP status of the receiver's response; null if there was no response. */
    status: integer("status"),
    error: text("error"),
    /** First characters of the receiver's response body. */
    answer: text("answer"),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.number] })],
)

export type Delivery = typeof deliveries.$inferSelect
export type DeliveryTry = typeof deliveryTries.$inferSelect
