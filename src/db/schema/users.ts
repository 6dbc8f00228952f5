import { sql } from "drizzle-orm"
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { accounts } from "./accounts.ts"

// Tables of the library better-auth. The library's table "account" is called `credentials` here,
// because an account of Lathe owns keys, files and jobs.

const moments = {
  createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  updatedAt: integer("updated_at", { mode: "timestamp_ms" }).notNull(),
}

/** Users of the dashboard. The account of a user is created together with the user. */
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
    /**
     * Column that better-auth requires. The value is always null, because no page shows a picture
     * of a user.
     */
    image: text("image"),
    /**
     * Whether the user may use the operator's pages. Only a request with the operator's token can
     * set the column.
     */
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

/**
 * Methods by which users sign in: a password (provider `credential`), or an external sign-in
 * service.
 */
export const credentials = sqliteTable(
  "credentials",
  {
    id: text("id").primaryKey(),
    userId: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    providerId: text("provider_id").notNull(),
    /** Id of the user at the external sign-in service. */
    accountId: text("provider_account_id").notNull(),
    accessToken: text("access_token"),
    refreshToken: text("refresh_token"),
    idToken: text("id_token"),
    accessTokenExpiresAt: integer("access_token_expires_at", { mode: "timestamp_ms" }),
    refreshTokenExpiresAt: integer("refresh_token_expires_at", { mode: "timestamp_ms" }),
    scope: text("scope"),
    /** Hash of the password; null for a user of an external sign-in service. */
    password: text("password"),
    ...moments,
  },
  (table) => [index("credentials_of_user").on(table.userId)],
)

/** Tokens of mailed links that no user has followed yet. */
export const mailedLinkTokens = sqliteTable(
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

/** Sign-in attempts for rate limiting, with one row for each client network. */
export const signInTries = sqliteTable(
  "sign_in_tries",
  {
    /** Client network: an IPv4 address, the /64 prefix of an IPv6 address, or `unknown`. */
    network: text("network").primaryKey(),
    /** Number of sign-in attempts and start of their window, by the path of the sign-in route. */
    tries: text("tries", { mode: "json" })
      .$type<Record<string, [count: number, since: number]>>()
      .notNull(),
    lastTryAt: integer("last_try_at").notNull(),
  },
  (table) => [index("sign_in_tries_by_age").on(table.lastTryAt)],
)

/** Invitations to sign up. */
export const invitations = sqliteTable("invitations", {
  id: text("id").primaryKey(),
  email: text("email").notNull().unique(),
  /** Plan that the account of the invited user gets. */
  plan: text("plan").notNull(),
  /** SHA-256 of the token in the link of the invitation mail, hexadecimal. */
  tokenHash: text("token_hash").notNull().unique(),
  expiresAt: integer("expires_at").notNull(),
  createdAt: integer("created_at").notNull(),
})

/** Number of mails to each address within an hour. The hour begins with the first mail. */
export const mailCounts = sqliteTable(
  "mail_counts",
  {
    /** Mail address in lower case, without a `+tag` of its local part. */
    address: text("address").primaryKey(),
    count: integer("count").notNull(),
    /** End of the hour in which the mails are counted. */
    until: integer("until").notNull(),
  },
  (table) => [index("mail_counts_by_end").on(table.until)],
)

export type Session = typeof sessions.$inferSelect
export type User = typeof users.$inferSelect
export type Invitation = typeof invitations.$inferSelect
