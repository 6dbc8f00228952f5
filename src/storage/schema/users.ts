import { sql } from "drizzle-orm"
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { accounts } from "./accounts.ts"

// The tables of better-auth, under this project's names: what it calls an account is a credential
// here, since an account is who owns keys, files and jobs.

const moments = {
  createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  updatedAt: integer("updated_at", { mode: "timestamp_ms" }).notNull(),
}

/** People who sign in. Each has the account that was made with it. */
export const users = sqliteTable(
  "users",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .unique()
      .references(() => accounts.id),
    name: text("name").notNull(),
    email: text("email").notNull().unique(),
    emailVerified: integer("email_verified", { mode: "boolean" }).notNull(),
    /** Always null: no page shows a picture of a user. better-auth wants the column. */
    image: text("image"),
    /** May do what the operator's pages do; only the operator's own token makes one. */
    isOperator: integer("is_operator", { mode: "boolean" }).notNull().default(false),
    ...moments,
  },
  (table) => [
    index("users_unconfirmed")
      .on(table.createdAt)
      .where(sql`email_verified = 0`),
  ],
)

export const sessions = sqliteTable(
  "sessions",
  {
    id: text("id").primaryKey(),
    userId: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    token: text("token").notNull().unique(),
    expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
    ipAddress: text("ip_address"),
    userAgent: text("user_agent"),
    ...moments,
  },
  (table) => [index("sessions_of_user").on(table.userId)],
)

/** How a user signs in: a password (provider `credential`), or a provider's word. */
export const credentials = sqliteTable(
  "credentials",
  {
    id: text("id").primaryKey(),
    userId: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    providerId: text("provider_id").notNull(),
    /** The user's id at the provider. */
    accountId: text("provider_account_id").notNull(),
    accessToken: text("access_token"),
    refreshToken: text("refresh_token"),
    idToken: text("id_token"),
    accessTokenExpiresAt: integer("access_token_expires_at", { mode: "timestamp_ms" }),
    refreshTokenExpiresAt: integer("refresh_token_expires_at", { mode: "timestamp_ms" }),
    scope: text("scope"),
    /** Hash of the password. */
    password: text("password"),
    ...moments,
  },
  (table) => [index("credentials_of_user").on(table.userId)],
)

/** Links that were mailed and not followed yet. */
export const verifications = sqliteTable(
  "verifications",
  {
    id: text("id").primaryKey(),
    identifier: text("identifier").notNull(),
    value: text("value").notNull(),
    expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
    ...moments,
  },
  (table) => [
    index("verifications_by_identifier").on(table.identifier),
    index("verifications_by_expiry").on(table.expiresAt),
  ],
)

/** Requests about sign-in by the network that they come from, which has one row. */
export const signInTries = sqliteTable(
  "sign_in_tries",
  {
    /** An address, of IPv6 its /64, or `unknown`. */
    network: text("network").primaryKey(),
    /** By the path of a route: how many there were since when. */
    tries: text("tries", { mode: "json" })
      .$type<Record<string, [count: number, since: number]>>()
      .notNull(),
    lastTryAt: integer("last_try_at").notNull(),
  },
  (table) => [index("sign_in_tries_by_age").on(table.lastTryAt)],
)

/** Who may sign up where sign-up is by invitation. */
export const invitations = sqliteTable("invitations", {
  id: text("id").primaryKey(),
  email: text("email").notNull().unique(),
  /** The plan of the account to come. */
  plan: text("plan").notNull(),
  /** SHA-256 of the token of the mailed link, hexadecimal. */
  tokenHash: text("token_hash").notNull().unique(),
  expiresAt: integer("expires_at").notNull(),
  createdAt: integer("created_at").notNull(),
})

/** Counts of mails by address, each for an hour that began with the first mail. */
export const mailCounts = sqliteTable(
  "mail_counts",
  {
    /** Lower case, without the part of the name from a plus sign on. */
    address: text("address").primaryKey(),
    count: integer("count").notNull(),
    /** The end of the hour, in milliseconds since 1970. */
    until: integer("until").notNull(),
  },
  (table) => [index("mail_counts_by_end").on(table.until)],
)

export type Session = typeof sessions.$inferSelect
export type User = typeof users.$inferSelect
export type Invitation = typeof invitations.$inferSelect
