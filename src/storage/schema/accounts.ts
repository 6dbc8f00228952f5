import { sql } from "drizzle-orm"
import { integer, sqliteTable, text, uniqueIndex, index } from "drizzle-orm/sqlite-core"
import type { OwnLimits } from "../../plans.ts"
import type { Scope } from "../../scopes.ts"

// Moments in all tables are milliseconds since 1970, UTC.

export const accounts = sqliteTable(
  "accounts",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull().unique(),
    /** One of src/plans.ts, or one of the operator's own. */
    plan: text("plan").notNull(),
    /** Signs the account's webhooks: `whsec_` and base64. */
    webhookSecret: text("webhook_secret").notNull(),
    /** Signs beside the new one for a day after a rotation. */
    webhookSecretBefore: text("webhook_secret_before"),
    webhookSecretRotatedAt: integer("webhook_secret_rotated_at"),
    createdAt: integer("created_at").notNull(),
    /** Since then its keys and users are refused; what it had accepted goes on. */
    suspendedAt: integer("suspended_at"),
    /** Since then it is being deleted with everything it owns. */
    deletedAt: integer("deleted_at"),
    /** When the sweep goes on to remove what a deleted account owned. */
    purgeAt: integer("purge_at"),
    /** Number of the database that has its rows; where that is not the first, a copy of this row, too. */
    database: integer("database").notNull().default(1),
    /** Rises with each change of what is copied; a trigger does it, so that no write forgets it. */
    version: integer("version").notNull().default(1),
    /** The version that the copy has. */
    copiedVersion: integer("copied_version").notNull().default(0),
  },
  (table) => [
    index("accounts_of_plan").on(table.plan, table.id),
    index("accounts_to_purge")
      .on(table.purgeAt)
      .where(sql`purge_at is not null`),
    index("accounts_to_copy")
      .on(table.id)
      .where(sql`database <> 1 and version <> copied_version`),
  ],
)

export const keys = sqliteTable(
  "keys",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id),
    /** What its owner calls it. */
    name: text("name").notNull().default(""),
    /** SHA-256 of the key, hexadecimal. */
    hash: text("hash").notNull(),
    /** The first 8 characters, so that a person can tell keys apart. */
    prefix: text("prefix").notNull(),
    scopes: text("scopes", { mode: "json" }).$type<Scope[]>().notNull(),
    createdAt: integer("created_at").notNull(),
    /** A key counts no more from then on; null for one that never expires. */
    expiresAt: integer("expires_at"),
    /** The last request with it, some seconds late. */
    lastUsedAt: integer("last_used_at"),
    /** The key that took its place by rotation. */
    replacedBy: text("replaced_by"),
    revokedAt: integer("revoked_at"),
  },
  (table) => [
    uniqueIndex("keys_hash").on(table.hash),
    index("keys_of_account").on(table.accountId, table.id),
  ],
)

/** Plans of the operator's own, beside those of src/plans.ts. */
export const plans = sqliteTable("plans", {
  name: text("name").primaryKey(),
  limits: text("limits", { mode: "json" }).$type<OwnLimits>().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
})

export type Account = typeof accounts.$inferSelect
export type Key = typeof keys.$inferSelect
export type OwnPlan = typeof plans.$inferSelect
