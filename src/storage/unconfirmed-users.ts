import { and, asc, eq, lt, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "./database.ts"
import type { Database, Statement } from "./database.ts"
import { accounts } from "./schema/accounts.ts"
import { credentials, invitations, sessions, users, verifications } from "./schema/users.ts"
import type { User } from "./schema/users.ts"

/** A user without a confirmed email, and the account of the user. */
export type Unconfirmed = Pick<User, "id" | "accountId">

/** Users without a confirmed email that were made before a moment, the oldest first. */
export async function listUnconfirmed(
  database: Database,
  before: Date,
  limit: number,
): Promise<Unconfirmed[]> {
  return await database
    .select({ id: users.id, accountId: users.accountId })
    .from(users)
    // SQLite uses the partial index for this text, and not for a bound value.
    .where(and(sql`email_verified = 0`, lt(users.createdAt, before)))
    .orderBy(asc(users.createdAt))
    .limit(limit)
}

/** Removes those of some users who are still unconfirmed, as `removalOfUnconfirmed` does. */
export async function removeUnconfirmed(
  database: Database,
  some: readonly Unconfirmed[],
): Promise<void> {
  await runBatch(database, removalOfUnconfirmed(database, some))
}

/**
 * Statements that remove those of some users who are still unconfirmed, with their credentials,
 * sessions, links and accounts. An account with a key stays.
 */
export function removalOfUnconfirmed(
  database: Database,
  some: readonly Unconfirmed[],
): Statement[] {
  const ids = listOf(some.map(({ id }) => id))
  const accountIds = listOf(some.map(({ accountId }) => accountId))
  return [
    // Credentials and sessions go with their user.
    database.delete(users).where(sql`${users.id} in ${ids} and email_verified = 0`),
    database
      .delete(verifications)
      .where(sql`${verifications.value} in ${ids} and value not in (select id from users)`),
    database
      .delete(accounts)
      .where(
        sql`${accounts.id} in ${accountIds} and not exists (select 1 from users where users.account_id = accounts.id) and not exists (select 1 from keys where keys.account_id = accounts.id)`,
      ),
  ]
}

/** Hash of the password of a confirmation: the present password, or a new password. */
export type ConfirmedPassword = { hash: string; isNew: boolean }

/**
 * Confirms the email of a user, ends all sessions of the user, and makes links and invitations of that
 * email void. False, without any change, where the email is confirmed already, or where a password that
 * is not new is no longer the password of the user.
 */
export async function confirmUser(
  database: Database,
  userId: string,
  { hash, isNew }: ConfirmedPassword,
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
      database.delete(verifications).where(and(eq(verifications.value, userId), isOpen)),
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

/** Notes that a user has followed a mailed link, and makes links and invitations of the email void. */
export async function settleMailedLinks(database: Database, userId: string): Promise<void> {
  await runBatch(database, [
    database
      .update(users)
      .set({ emailVerified: true, updatedAt: new Date() })
      .where(eq(users.id, userId)),
    database.delete(verifications).where(eq(verifications.value, userId)),
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
