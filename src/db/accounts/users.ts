import { and, eq, exists, isNull, lt, ne, sql } from "drizzle-orm"
import { readDatabaseNumber, newId } from "../../platform/ids.ts"
import { runBatch } from "../database.ts"
import type { Database } from "../database.ts"
import { accounts } from "../schema/accounts.ts"
import { credentials, invitations, sessions, users, mailedLinkTokens } from "../schema/users.ts"
import type { Session, User } from "../schema/users.ts"
import { removeUnconfirmedUsersStatements } from "./unconfirmed-users.ts"
import type { UnconfirmedUser } from "./unconfirmed-users.ts"

/** User to create, with the account that is created in the same batch. */
export type NewUser = {
  user: User
  /** Hash of the password; null for a user without a password. */
  passwordHash: string | null
  webhookSecret: string
  /**
   * Unconfirmed user with the same email, whom the new user replaces. Null if no such user exists.
   */
  replaced: UnconfirmedUser | null
  /**
   * Plan of the new account, or the invitation that names the plan. The sign-up deletes the
   * invitation.
   */
  admittedBy: { plan: string } | { invitationId: string }
}

/**
 * Stores a user with an account and an optional password in one batch. Returns null if the email is
 * taken or the invitation no longer exists. The account's name is the email; if another account has
 * that name, the id is appended. A user with a confirmed email no longer needs an invitation, so
 * the batch deletes invitations for that email.
 */
export async function createUser(database: Database, newUser: NewUser): Promise<User | null> {
  const { user, passwordHash, webhookSecret, replaced, admittedBy } = newUser
  const createdAt = user.createdAt.getTime()
  const account = {
    id: user.accountId,
    name: nameFor(database, user),
    plan:
      "plan" in admittedBy
        ? admittedBy.plan
        : sql<string>`(select plan from ${invitations} where id = ${admittedBy.invitationId} and expires_at > ${createdAt})`,
    webhookSecret,
    createdAt,
    database: readDatabaseNumber(user.accountId),
  }
  try {
    await runBatch(database, [
      ...(replaced ? removeUnconfirmedUsersStatements(database, [replaced]) : []),
      database.insert(accounts).values(account),
      database.insert(users).values(user),
      ...(passwordHash === null ? [] : [insertPassword(database, user, passwordHash)]),
      ...(user.emailVerified
        ? [database.delete(invitations).where(eq(invitations.email, user.email))]
        : []),
    ])
    return user
  } catch (error) {
    if (REFUSALS.test(textOf(error))) return null
    throw error
  }
}

function insertPassword(database: Database, user: User, password: string) {
  const { id: userId, createdAt, updatedAt } = user
  const credential = { id: newId(), userId, providerId: "credential", accountId: userId }
  return database.insert(credentials).values({ ...credential, password, createdAt, updatedAt })
}

const REFUSALS = /UNIQUE constraint failed: users\.email|NOT NULL constraint failed: accounts\.plan/

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return `${error.message}\n${error.cause instanceof Error ? error.cause.message : ""}`
}

/**
 * Returns the session with a token, and the user of the session; null if no session has the token.
 */
export async function findSession(
  database: Database,
  token: string,
): Promise<(Session & { user: User }) | null> {
  const [row] = await database
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.token, token))
    .limit(1)
  return row ? { ...row.session, user: row.user } : null
}

/** Returns the user with an email; null if no user has the email. */
export async function findUserByEmail(database: Database, email: string): Promise<User | null> {
  const [user] = await database.select().from(users).where(eq(users.email, email)).limit(1)
  return user ?? null
}

/** Returns the user with an id; null if no user has the id. */
export async function findUser(database: Database, id: string): Promise<User | null> {
  const [user] = await database.select().from(users).where(eq(users.id, id)).limit(1)
  return user ?? null
}

/** Reports whether a user's account exists and is not deleted. */
export async function hasUndeletedAccount(database: Database, userId: string): Promise<boolean> {
  const rows = await database
    .select({ id: users.id })
    .from(users)
    .innerJoin(accounts, eq(accounts.id, users.accountId))
    .where(and(eq(users.id, userId), isNull(accounts.deletedAt)))
    .limit(1)
  return rows.length > 0
}

/** Removes the expired sessions of a user, because the library better-auth does not remove them. */
export async function removeExpiredSessions(
  database: Database,
  userId: string,
  now: Date,
): Promise<void> {
  await database
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), lt(sessions.expiresAt, now)))
}

/**
 * Renames a user's account after a change of the user's email, so that a later owner of the former
 * email does not get this account. If another account has the new name, the id of the account is
 * appended to the name.
 */
export async function renameAccountToEmail(
  database: Database,
  user: Pick<User, "accountId" | "email">,
): Promise<void> {
  await database
    .update(accounts)
    .set({ name: nameFor(database, user) })
    .where(
      and(
        eq(accounts.id, user.accountId),
        ne(accounts.name, user.email),
        isNull(accounts.deletedAt),
      ),
    )
}

function nameFor(database: Database, { accountId, email }: Pick<User, "accountId" | "email">) {
  const ofAnother = database.select().from(accounts).where(eq(accounts.name, email))
  return sql<string>`case when ${exists(ofAnother)} then ${`${email} ${accountId}`} else ${email} end`
}

/** Grants a user the rights of an operator. */
export async function grantOperatorRights(database: Database, userId: string): Promise<void> {
  await database.update(users).set({ isOperator: true }).where(eq(users.id, userId))
}

/** Removes the expired tokens of mailed links. */
export async function removeExpiredMailedLinks(database: Database, now: Date): Promise<void> {
  await database.delete(mailedLinkTokens).where(lt(mailedLinkTokens.expiresAt, now))
}
