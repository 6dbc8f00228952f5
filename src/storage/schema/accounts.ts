import { integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core"
import { PLANS } from "../../plans.ts"

// Moments in all tables are milliseconds since 1970, UTC.

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

export type Account = typeof accounts.$inferSelect
export type Key = typeof keys.$inferSelect
