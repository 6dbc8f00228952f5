import { sql } from "drizzle-orm"
import { integer, sqliteTable, text, uniqueIndex, index } from "drizzle-orm/sqlite-core"
import type { OperatorPlanLimits } from "../../domain/plans.ts"
import type { Scope } from "../../domain/scopes.ts"

// Times in all tables are in milliseconds since 1970, UTC.

export const accounts = sqliteTable(
  "accounts",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull().unique(),
    /** Name of a built-in plan (src/domain/plans.ts), or of a plan that the operator created. */
    plan: text("plan").notNull(),
    /** Secret that signs the account's webhooks: `whsec_` and base64. */
    webhookSecret: text("webhook_secret").notNull(),
    /** Previous webhook secret. It also signs webhooks for a day after a rotation. */
    webhookSecretBefore: text("webhook_secret_before"),
    webhookSecretRotatedAt: integer("webhook_secret_rotated_at"),
    createdAt: integer("created_at").notNull(),
    /**
     * Time of the suspension. Keys and users of the account are refused; accepted jobs continue.
     */
    suspendedAt: integer("suspended_at"),
    /**
     * Time at which the deletion of the account with all its data began; null for other accounts.
     */
    deletedAt: integer("deleted_at"),
    /** Time at which the sweep removes the next part of a deleted account's data. */
    purgeAt: integer("purge_at"),
    /**
     * Number of the database that holds the account's rows. If that is not the first database, it
     * holds a copy of this row.
     */
    database: integer("database").notNull().default(1),
    /**
     * Version of the row. A trigger raises it with each change of a copied column, so that no write
     * can omit that.
     */
    version: integer("version").notNull().default(1),
    /** Version of the row's copy in the account's own database; 0 without a copy. */
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
    /** Name that the owner gave to the key. */
    name: text("name").notNull().default(""),
    /** SHA-256 of the key, hexadecimal. */
    hash: text("hash").notNull(),
    /** First 8 characters of the key, by which people recognize it. */
    prefix: text("prefix").notNull(),
    scopes: text("scopes", { mode: "json" }).$type<Scope[]>().notNull(),
    createdAt: integer("created_at").notNull(),
    /** Expiry of the key; null for a key that never expires. */
    expiresAt: integer("expires_at"),
    /**
     * Time of the last request with the key. Requests of the last seconds may not be written yet.
     */
    lastUsedAt: integer("last_used_at"),
    /** Id of the key that replaced this key by rotation; null if it was not rotated. */
    replacedBy: text("replaced_by"),
    revokedAt: integer("revoked_at"),
  },
  (table) => [
    uniqueIndex("keys_hash").on(table.hash),
    index("keys_of_account").on(table.accountId, table.id),
  ],
)

/** Plans that the operator created, in addition to the built-in plans of src/domain/plans.ts. */
export const plans = sqliteTable("plans", {
  name: text("name").primaryKey(),
  limits: text("limits", { mode: "json" }).$type<OperatorPlanLimits>().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
})

export type Account = typeof accounts.$inferSelect
export type Key = typeof keys.$inferSelect
export type OperatorPlan = typeof plans.$inferSelect
