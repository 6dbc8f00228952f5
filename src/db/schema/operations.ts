import { sql } from "drizzle-orm"
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

/**
 * Dead letters: queue messages that failed too often. The sweep repeats the work of the messages;
 * the rows remain for the operator.
 */
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

/**
 * Outages: receivers of webhooks at which all recent tries failed. A successful try deletes the
 * row.
 */
export const receiverOutages = sqliteTable(
  "receiver_outages",
  {
    accountId: text("account_id").notNull(),
    /** Origin of the webhook's URL, such as `https://example.com`. */
    receiver: text("receiver").notNull(),
    /** Times of the first and the last failed try of the outage, and the number of failed tries. */
    failingSince: integer("failing_since").notNull(),
    failedAt: integer("failed_at").notNull(),
    tries: integer("tries").notNull().default(1),
    /** HTTP status and error of the last failed try. */
    status: integer("status"),
    error: text("error"),
    /**
     * Time at which the alert to the owner of the account is due. Null until the outage has lasted
     * a day, and after the alert.
     */
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
