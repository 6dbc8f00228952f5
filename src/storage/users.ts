import { and, eq, exists, isNull, lt, ne, notExists, sql } from "drizzle-orm"
import { firstDatabaseOf } from "../ids.ts"
import { runBatch } from "./database.ts"
import type { Database } from "./database.ts"
import { accounts, keys } from "./schema/accounts.ts"
import { credentials, invitations, sessions, users, verifications } from "./schema/users.ts"
import type { Session, User } from "./schema/users.ts"

export type NewUser = {
  user: User
  webhookSecret: string
  /** The plan of the account; an invitation, which is used up with the user, says it itself. */
  admittedBy: { plan: string } | { invitationId: string }
}

/**
 * Stores a user and its account, or neither; null where a user has the email already, or the
 * invitation is gone. The account is named by the email; a name that is taken stays with whom it
 * belongs to.
 */
export async function createUser(database: Database, made: NewUser): Promise<User | null> {
  const { user, webhookSecret, admittedBy } = made
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
    database: firstDatabaseOf(user.accountId),
  }
  try {
    await runBatch(database, [
      database.insert(accounts).values(account),
      database.insert(users).values(user),
      database.delete(invitations).where(eq(invitations.email, user.email)),
    ])
    return user
  } catch (error) {
    if (REFUSALS.test(textOf(error))) return null
    throw error
  }
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

/**
 * Removes the user of an email who never showed that it is theirs, and the account that was made
 * with it: whoever signs up with the email next chooses the password. One whose password is not
 * stored yet is in the making, and stays. Answers whose account may be gone.
 */
export async function removeUnverifiedUser(
  database: Database,
  email: string,
): Promise<{ accountId: string } | null> {
  const user = await findUserByEmail(database, email)
  if (!user || user.emailVerified) return null
  const { id, accountId } = user
  const hasPassword = database.select().from(credentials).where(eq(credentials.userId, id))
  const stays = database.select().from(users).where(eq(users.accountId, accountId))
  const ofAccount = database.select().from(keys).where(eq(keys.accountId, accountId))
  await runBatch(database, [
    database
      .delete(users)
      .where(and(eq(users.id, id), eq(users.emailVerified, false), exists(hasPassword))),
    database
      .delete(accounts)
      .where(and(eq(accounts.id, accountId), notExists(stays), notExists(ofAccount))),
  ])
  return { accountId }
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

/** Notes that the user has followed a link that was mailed, and makes void all others. */
export async function settleMailedLinks(database: Database, userId: string): Promise<void> {
  await runBatch(database, [
    database.update(users).set({ emailVerified: true }).where(eq(users.id, userId)),
    database.delete(verifications).where(eq(verifications.value, userId)),
  ])
}

/** Removes links that were mailed and not followed in time. */
export async function removeExpiredLinks(database: Database, now: Date): Promise<void> {
  await database.delete(verifications).where(lt(verifications.expiresAt, now))
}
