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
    /**
     * Previous webhook secret. For a day after a rotation, webhooks are also signed with the
     * previous secret.
     */
    webhookSecretBefore: text("webhook_secret_before"),
    webhookSecretRotatedAt: integer("webhook_secret_rotated_at"),
    createdAt: integer("created_at").notNull(),
    /**
     * Time of the suspension; null for other accounts. The service refuses keys and users of a
     * suspended account; accepted jobs continue.
     */
    suspendedAt: integer("suspended_at"),
    /**
     * Time at which the deletion of the account with all its data began; null for other accounts.
     */
    deletedAt: integer("deleted_at"),
    /**
     * Time at which the sweep removes the next part of a deleted account's data; null for other
     * accounts.
     */
    purgeAt: integer("purge_at"),
    /**
     * Number of the database that holds the account's jobs, files and other rows. Unless it is the
     * first, the directory, that database also has a copy of this row.
     */
    database: integer("database").notNull().default(1),
    /**
     * Version of the row. A trigger raises the version with each change of a copied column, so that
     * no statement can omit the increase.
     */
    version: integer("version").notNull().default(1),
    /** Version of the row's copy in the database with the account's rows; 0 if there is no copy. */
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

export const apiKeys = sqliteTable(
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
    /** First 8 characters of the key, by which its owner recognizes the key. */
    prefix: text("prefix").notNull(),
    scopes: text("scopes", { mode: "json" }).$type<Scope[]>().notNull(),
    createdAt: integer("created_at").notNull(),
    /** Expiry of the key; null for a key that never expires. */
    expiresAt: integer("expires_at"),
    /**
     * Time of the last request with the key. The last seconds may be missing, because requests are
     * counted in memory first.
     */
    lastUsedAt: integer("last_used_at"),
    /** Id of the key that replaced this key by rotation; null if the key was not rotated. */
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
export type ApiKey = typeof apiKeys.$inferSelect
export type OperatorPlan = typeof plans.$inferSelect
