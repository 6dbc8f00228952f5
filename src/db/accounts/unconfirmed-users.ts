import { and, asc, eq, lt, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "../database.ts"
import type { Database, Statement } from "../database.ts"
import { accounts } from "../schema/accounts.ts"
import { credentials, invitations, sessions, users, mailedLinkTokens } from "../schema/users.ts"
import type { User } from "../schema/users.ts"

/** User with an unconfirmed email, and the user's account. */
export type UnconfirmedUser = Pick<User, "id" | "accountId">

/** Returns users with an unconfirmed email that were created before a time, oldest first. */
export async function listUnconfirmedUsers(
  database: Database,
  before: Date,
  limit: number,
): Promise<UnconfirmedUser[]> {
  return await database
    .select({ id: users.id, accountId: users.accountId })
    .from(users)
    // SQLite uses the partial index only for this literal condition, not for a bound parameter.
    .where(and(sql`email_verified = 0`, lt(users.createdAt, before)))
    .orderBy(asc(users.createdAt))
    .limit(limit)
}

/**
 * Removes those of the given users whose email is still unconfirmed, with their credentials,
 * sessions, mailed links and accounts. An account that has an API key stays.
 */
export async function removeUnconfirmedUsers(
  database: Database,
  some: readonly UnconfirmedUser[],
): Promise<void> {
  await runBatch(database, removeUnconfirmedUsersStatements(database, some))
}

/**
 * Returns the statements of `removeUnconfirmedUsers`, so that a caller can add them to its own
 * batch.
 */
export function removeUnconfirmedUsersStatements(
  database: Database,
  some: readonly UnconfirmedUser[],
): Statement[] {
  const ids = listOf(some.map(({ id }) => id))
  const accountIds = listOf(some.map(({ accountId }) => accountId))
  return [
    // The credentials and sessions of a deleted user are removed by cascading foreign keys.
    database.delete(users).where(sql`${users.id} in ${ids} and email_verified = 0`),
    database
      .delete(mailedLinkTokens)
      .where(sql`${mailedLinkTokens.value} in ${ids} and value not in (select id from users)`),
    database
      .delete(accounts)
      .where(
        sql`${accounts.id} in ${accountIds} and not exists (select 1 from users where users.account_id = accounts.id) and not exists (select 1 from keys where keys.account_id = accounts.id)`,
      ),
  ]
}

/**
 * Hash of the password that a user has after confirming an email. `isNew` is true if the user chose
 * the password at the confirmation, and false if at the sign-up.
 */
export type ConfirmationPassword = { hash: string; isNew: boolean }

/**
 * Confirms the email of a user, ends all sessions of the user, and invalidates mailed links and
 * invitations for the email. Returns false without any change if the email is already confirmed, or
 * if the user's password has changed since the caller verified it.
 */
export async function confirmUser(
  database: Database,
  userId: string,
  { hash, isNew }: ConfirmationPassword,
): Promise<boolean> {
  const isOpen = isUnconfirmed(userId, isNew ? null : hash)
  const updatedAt = new Date()
  const [confirmed] = (
    await database.batch([
      database
        .update(credentials)
        .set({ password: hash, updatedAt })
        .where(
          and(eq(credentials.userId, userId), eq(credentials.providerId, "credential"), isOpen),
        ),
      database.delete(sessions).where(and(eq(sessions.userId, userId), isOpen)),
      database.delete(mailedLinkTokens).where(and(eq(mailedLinkTokens.value, userId), isOpen)),
      database.delete(invitations).where(and(sql`email = ${emailOf(userId)}`, isOpen)),
      database
        .update(users)
        .set({ emailVerified: true, updatedAt })
        .where(and(eq(users.id, userId), isOpen))
        .returning({ id: users.id }),
    ])
  )[4]
  return confirmed !== undefined
}

/**
 * Confirms the email of a user who followed a mailed link, and invalidates other mailed links and
 * invitations for the email.
 */
export async function confirmUserByMailedLink(database: Database, userId: string): Promise<void> {
  await runBatch(database, [
    database
      .update(users)
      .set({ emailVerified: true, updatedAt: new Date() })
      .where(eq(users.id, userId)),
    database.delete(mailedLinkTokens).where(eq(mailedLinkTokens.value, userId)),
    database.delete(invitations).where(sql`email = ${emailOf(userId)}`),
  ])
}

function isUnconfirmed(userId: string, hash: string | null): SQL {
  const password = sql`select 1 from ${credentials} where user_id = ${userId} and provider_id = 'credential' and password = ${hash}`
  return sql`exists (select 1 from ${users} where id = ${userId} and email_verified = 0 ${hash === null ? sql`` : sql`and exists (${password})`})`
}

function emailOf(userId: string): SQL {
  return sql`(select email from ${users} where id = ${userId})`
}

function listOf(ids: readonly string[]): SQL {
  return sql`(select value from json_each(${JSON.stringify(ids)}))`
}
