import { and, asc, eq, inArray, lt, lte, sql } from "drizzle-orm"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { deliveries } from "./schema/deliveries.ts"
import { receiverOutages } from "./schema/operations.ts"
import type { ReceiverOutage } from "./schema/operations.ts"

/** Duration of an outage in milliseconds, after which the account's owner gets an alert. */
const LONG_MS = 24 * 3_600_000

/**
 * Try of a webhook at its receiver. The receiver is the origin of the webhook's URL. The try
 * succeeded if `error` is null.
 */
export type ReceiverTry = {
  receiver: string
  startedAt: number
  status: number | null
  error: string | null
}

/**
 * Returns the statement that begins, continues or ends the outage of a webhook receiver after a
 * try. If the outage has lasted a day, an alert to the account's owner becomes due.
 */
export function updateReceiverOutageStatement(
  database: AccountDatabase,
  receiverTry: ReceiverTry,
): Statement {
  const { accountId, sql: all } = database
  const { receiver, startedAt, status, error } = receiverTry
  if (error === null) return all.delete(receiverOutages).where(isOf(database, receiver))
  const isDue = sql`due_at is null and alerted_at is null and excluded.failed_at - failing_since >= ${LONG_MS}`
  return all
    .insert(receiverOutages)
    .values({ accountId, receiver, failingSince: startedAt, failedAt: startedAt, status, error })
    .onConflictDoUpdate({
      target: [receiverOutages.accountId, receiverOutages.receiver],
      set: {
        failedAt: sql`excluded.failed_at`,
        tries: sql`tries + 1`,
        status: sql`excluded.status`,
        error: sql`excluded.error`,
        dueAt: sql`case when ${isDue} then excluded.failed_at else due_at end`,
      },
    })
}

/**
 * Returns the ids of accounts with a due alert about an outage of a webhook receiver, the longest
 * overdue first.
 */
export async function listAccountsWithDueOutageAlerts(
  database: Database,
  { now, limit }: { now: number; limit: number },
): Promise<string[]> {
  const { dueAt, accountId } = receiverOutages
  const due = database.select({ accountId }).from(receiverOutages).where(lte(dueAt, now))
  const rows = await due.orderBy(asc(dueAt)).limit(limit)
  return [...new Set(rows.map((row) => row.accountId))]
}

/**
 * Returns the outages of an account with a due alert, and marks the outages as alerted. Two
 * concurrent callers never get the same outage.
 */
export async function claimDueOutageAlerts(
  { accountId, sql: database }: AccountDatabase,
  now: number,
  limit: number,
): Promise<ReceiverOutage[]> {
  const due = database
    .select({ receiver: receiverOutages.receiver })
    .from(receiverOutages)
    .where(and(eq(receiverOutages.accountId, accountId), sql`due_at is not null`))
    .limit(limit)
  return await database
    .update(receiverOutages)
    .set({ dueAt: null, alertedAt: now })
    .where(
      and(
        eq(receiverOutages.accountId, accountId),
        inArray(receiverOutages.receiver, due),
        sql`due_at is not null`,
      ),
    )
    .returning()
}

/**
 * Makes alerts about outages due again at `dueAt` after they could not be mailed: the alerts that
 * `claimDueOutageAlerts` marked as sent at `claimedAt`. Outages that have ended since are ignored.
 */
export async function postponeOutageAlerts(
  { accountId, sql: database }: AccountDatabase,
  claimedAt: number,
  dueAt: number,
): Promise<void> {
  await database
    .update(receiverOutages)
    .set({ dueAt, alertedAt: null })
    .where(and(eq(receiverOutages.accountId, accountId), eq(receiverOutages.alertedAt, claimedAt)))
}

/** Counts the webhook deliveries that wait for a try at a receiver, up to a limit. */
export async function countWaitingDeliveries(
  { accountId, sql: database }: AccountDatabase,
  receiver: string,
  limit: number,
): Promise<number> {
  // All URLs of the receiver begin with its origin and "/". The range ends with "0", which is the
  // character after "/".
  const waiting = database
    .select({ one: sql`1` })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.accountId, accountId),
        sql`state = 'waiting' and ${deliveries.url} >= ${`${receiver}/`} and ${deliveries.url} < ${`${receiver}0`}`,
      ),
    )
    .limit(limit)
  return await database.$count(waiting.as("counted"))
}

/** Deletes outages of all accounts whose last failed try is older than a time. */
export async function deleteOldOutages(database: Database, before: number): Promise<void> {
  await database.delete(receiverOutages).where(lt(receiverOutages.failedAt, before))
}

function isOf({ accountId }: AccountDatabase, receiver: string) {
  return and(eq(receiverOutages.accountId, accountId), eq(receiverOutages.receiver, receiver))
}
