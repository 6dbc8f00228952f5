import { and, asc, eq, gt, inArray, lt, lte, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { deliveries } from "./schema/deliveries.ts"
import { receiverOutages } from "./schema/operations.ts"
import type { ReceiverOutage } from "./schema/operations.ts"

/** A receiver that fails for so long is told of. */
const LONG_MS = 24 * 3_600_000

/** A try at a receiver, which is the origin of a webhook's URL; without an error it succeeded. */
export type ReceiverTry = {
  receiver: string
  startedAt: number
  status: number | null
  error: string | null
}

/**
 * Begins, lengthens or ends the outage of a receiver. Its owner is to be told by the first try that
 * fails a day or more after the first.
 */
export function noteTry(database: AccountDatabase, made: ReceiverTry): Statement {
  const { accountId, sql: all } = database
  const { receiver, startedAt, status, error } = made
  if (error === null) return all.delete(receiverOutages).where(isOf(database, receiver))
  const isDue = sql`due_at is null and alerted_at is null and excluded.failed_at - failing_since >= ${LONG_MS}`
  return all
    .insert(receiverOutages)
    .values({ accountId, receiver, failingSince: startedAt, failedAt: startedAt, status, error })
    .onConflictDoUpdate({
      target: [receiverOutages.accountId, receiverOutages.receiver],
      set: {
        // One that began later began by a clock that was ahead.
        failingSince: sql`min(failing_since, excluded.failing_since)`,
        failedAt: sql`excluded.failed_at`,
        tries: sql`tries + 1`,
        status: sql`excluded.status`,
        error: sql`excluded.error`,
        dueAt: sql`case when ${isDue} then excluded.failed_at else due_at end`,
      },
    })
}

/**
 * Accounts with receivers that their owners are to be told of, the longest due first. None is
 * postponed by more than `aheadMsMax`: one that is was so by a clock that was ahead.
 */
export async function listAlertDue(
  database: Database,
  { now, aheadMsMax, limit }: { now: number; aheadMsMax: number; limit: number },
): Promise<string[]> {
  const { dueAt, accountId } = receiverOutages
  function select(isDue: SQL) {
    const rows = database.select({ accountId }).from(receiverOutages).where(isDue)
    return rows.orderBy(asc(dueAt)).limit(limit)
  }
  // One condition of both would have all of them sorted.
  const [due, ahead] = await database.batch([
    select(lte(dueAt, now)),
    select(gt(dueAt, now + aheadMsMax)),
  ])
  return [...new Set([...due, ...ahead].slice(0, limit).map((row) => row.accountId))]
}

/** Takes the outages of an account that its owner is to be told of; nobody else gets them then. */
export async function claimAlerts(
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

/** Has the owner told later of outages that were claimed; those that ended since stay so. */
export async function postponeAlerts(
  { accountId, sql: database }: AccountDatabase,
  claimedAt: number,
  dueAt: number,
): Promise<void> {
  await database
    .update(receiverOutages)
    .set({ dueAt, alertedAt: null })
    .where(and(eq(receiverOutages.accountId, accountId), eq(receiverOutages.alertedAt, claimedAt)))
}

/** How many deliveries wait for their next try at a receiver, counted up to a limit. */
export async function countWaiting(
  { accountId, sql: database }: AccountDatabase,
  receiver: string,
  limit: number,
): Promise<number> {
  // "0" comes after "/", so that these are all URLs of the origin, which is never without a path.
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

/** Forgets receivers, of all accounts, that nothing was tried at since a moment. */
export async function deleteOldOutages(database: Database, before: number): Promise<void> {
  await database.delete(receiverOutages).where(lt(receiverOutages.failedAt, before))
}

function isOf({ accountId }: AccountDatabase, receiver: string) {
  return and(eq(receiverOutages.accountId, accountId), eq(receiverOutages.receiver, receiver))
}
