import { and, eq, exists, isNull, lt, ne, sql } from "drizzle-orm"
import { databaseNumberOf, newId } from "../ids.ts"
import { runBatch } from "./database.ts"
import type { Database } from "./database.ts"
import { accounts } from "./schema/accounts.ts"
import { credentials, invitations, sessions, users, verifications } from "./schema/users.ts"
import type { Session, User } from "./schema/users.ts"
import { removalOfUnconfirmed } from "./unconfirmed-users.ts"
import type { Unconfirmed } from "./unconfirmed-users.ts"

export type NewUser = {
  user: User
  /** Null for a user without a password. */
  passwordHash: string | null
  webhookSecret: string
  /** The unconfirmed user of the same email who is removed; null for none. */
  replaced: Unconfirmed | null
  /** The plan of the account; an invitation, which is used up with the user, says it itself. */
  admittedBy: { plan: string } | { invitationId: string }
}

/**
 * Stores a user with its account and password, or nothing; null where a user has the email already,
 * or the invitation is gone. The account is named by the email; a name that is taken stays with whom
 * it belongs to. Invitations of an email that is confirmed become void.
 */
export async function createUser(database: Database, made: NewUser): Promise<User | null> {
  const { user, passwordHash, webhookSecret, replaced, admittedBy } = made
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
    database: databaseNumberOf(user.accountId),
  }
  try {
    await runBatch(database, [
      ...(replaced ? removalOfUnconfirmed(database, [replaced]) : []),
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

/** The session of a token with its user, in one question; null where there is none. */
export async function findSession(
  database: Database,
  token: string,
): Promise<(Session & { user: User }) | null> {
  const [found] = await database
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.token, token))
    .limit(1)
  return found ? { ...found.session, user: found.user } : null
}

/** The user of an email; null where there is none. */
export async function findUserByEmail(database: Database, email: string): Promise<User | null> {
  const [user] = await database.select().from(users).where(eq(users.email, email)).limit(1)
  return user ?? null
}

/** The user of an id; null where there is none. */
export async function findUser(database: Database, id: string): Promise<User | null> {
  const [user] = await database.select().from(users).where(eq(users.id, id)).limit(1)
  return user ?? null
}

/** Whether a user's account is there and not being deleted. */
export async function hasAccount(database: Database, userId: string): Promise<boolean> {
  const rows = await database
    .select({ id: users.id })
    .from(users)
    .innerJoin(accounts, eq(accounts.id, users.accountId))
    .where(and(eq(users.id, userId), isNull(accounts.deletedAt)))
    .limit(1)
  return rows.length > 0
}

/** Removes the sessions of a user that have expired, which nobody else does. */
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
 * Names a user's account by the email that the user has now, so that the name leads to nobody else
 * who has the former one; a name that is taken stays with whom it belongs to.
 */
export async function nameAccountByEmail(
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

/** Makes a user an operator. */
export async function makeOperator(database: Database, userId: string): Promise<void> {
  await database.update(users).set({ isOperator: true }).where(eq(users.id, userId))
}

/** Removes links that were mailed and not followed in time. */
export async function removeExpiredLinks(database: Database, now: Date): Promise<void> {
  await database.delete(verifications).where(lt(verifications.expiresAt, now))
}
