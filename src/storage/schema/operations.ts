import { sql } from "drizzle-orm"
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

/** Messages that were tried too often; the sweep has found their work again. */
export const deadLetters = sqliteTable(
  "dead_letters",
  {
    id: text("id").primaryKey(),
    queue: text("queue").notNull(),
    body: text("body", { mode: "json" }).$type<unknown>(),
    receivedAt: integer("received_at").notNull(),
  },
  (table) => [index("dead_letters_by_age").on(table.receivedAt, table.id)],
)

/** Receivers of webhooks at which nothing succeeded since a try failed; a success removes the row. */
export const receiverOutages = sqliteTable(
  "receiver_outages",
  {
    accountId: text("account_id").notNull(),
    /** Origin of the URL. */
    receiver: text("receiver").notNull(),
    /** The first and the last try that failed, and how many did. */
    failingSince: integer("failing_since").notNull(),
    failedAt: integer("failed_at").notNull(),
    tries: integer("tries").notNull().default(1),
    /** What the last of them ended with. */
    status: integer("status"),
    error: text("error"),
    /** When its owner is to be told; null before it lasted for long, and once that was done. */
    dueAt: integer("due_at"),
    alertedAt: integer("alerted_at"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.receiver] }),
    index("receiver_outages_due")
      .on(table.dueAt)
      .where(sql`due_at is not null`),
    index("receiver_outages_by_age").on(table.failedAt),
  ],
)

export type DeadLetter = typeof deadLetters.$inferSelect
export type ReceiverOutage = typeof receiverOutages.$inferSelect
