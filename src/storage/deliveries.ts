import { and, asc, eq, getTableColumns, lte, sql } from "drizzle-orm"
import { runBatch } from "./database.ts"
import type { AccountDatabase, Database } from "./database.ts"
import { byNewest, isOnPage } from "./paging.ts"
import type { Page } from "./paging.ts"
import { noteTry } from "./receiver-outages.ts"
import { accounts } from "./schema/accounts.ts"
import type { Account } from "./schema/accounts.ts"
import { deliveries, deliveryTries } from "./schema/deliveries.ts"
import type { Delivery, DeliveryTry, FirstTry } from "./schema/deliveries.ts"
import { jobs } from "./schema/jobs.ts"
import { DELIVERY_STATES } from "./schema/states.ts"
import type { DeliveryState } from "./schema/states.ts"

/** The delivery of a job's end that still waits for a try; null where there is none. */
export async function findWaitingDelivery(
  { accountId, sql: database }: AccountDatabase,
  jobId: string,
): Promise<string | null> {
  const [row] = await database
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.jobId, jobId),
        eq(deliveries.accountId, accountId),
        eq(deliveries.state, "waiting"),
      ),
    )
    .limit(1)
  return row?.id ?? null
}

/** Deliveries of all accounts whose next try is due, the longest due first. */
export async function listDueDeliveries(
  database: Database,
  now: number,
  limit: number,
): Promise<{ accountId: string; deliveryId: string }[]> {
  return await database
    .select({ accountId: deliveries.accountId, deliveryId: deliveries.id })
    .from(deliveries)
    .where(sql`state = 'waiting' and next_try_at <= ${now}`)
    .orderBy(deliveries.nextTryAt)
    .limit(limit)
}

/** `requestId`: the request that made the job that it tells of. */
export type DueDelivery = { delivery: Delivery; account: Account; requestId: string | null }

/**
 * Claims the next try of a delivery that is due, which is then made again at `claimedUntil` by whoever
 * comes; with the account whose secrets sign it. Null where it is not due, or somebody else's.
 */
export async function claimDueDelivery(
  { accountId, sql: database }: AccountDatabase,
  id: string,
  { now, claimedUntil }: { now: number; claimedUntil: number },
): Promise<DueDelivery | null> {
  const isIt = and(eq(deliveries.id, id), eq(deliveries.accountId, accountId))
  const [claimed, [delivery], [account], [job]] = await database.batch([
    database
      .update(deliveries)
      .set({ nextTryAt: claimedUntil })
      .where(and(isIt, eq(deliveries.state, "waiting"), lte(deliveries.nextTryAt, now)))
      .returning({ id: deliveries.id }),
    database.select().from(deliveries).where(isIt),
    database.select().from(accounts).where(eq(accounts.id, accountId)),
    database
      .select({ requestId: jobs.requestId })
      .from(jobs)
      .where(sql`${jobs.id} = (select job_id from ${deliveries} where ${isIt})`),
  ])
  if (claimed.length === 0 || !delivery || !account) return null
  return { delivery, account, requestId: job?.requestId ?? null }
}

/** Moves a waiting delivery's next try; false where somebody moved it since it was read. */
export async function postponeDelivery(
  database: AccountDatabase,
  read: Pick<Delivery, "id" | "nextTryAt">,
  nextTryAt: number,
): Promise<boolean> {
  const moved = await database.sql
    .update(deliveries)
    .set({ nextTryAt })
    .where(isUnchanged(database, read))
    .returning({ id: deliveries.id })
  return moved.length === 1
}

/**
 * Logs a try of a delivery that is still there, notes it at its receiver, where it tells of one, and
 * moves it on, unless somebody moved that meanwhile.
 */
export async function endTry(
  database: AccountDatabase,
  read: Pick<Delivery, "id" | "nextTryAt">,
  made: Omit<DeliveryTry, "deliveryId" | "number">,
  {
    set,
    receiver,
  }: {
    set: Pick<Delivery, "state" | "tries" | "nextTryAt" | "completedAt">
    receiver: string | null
  },
): Promise<void> {
  const { startedAt, durationMs, status, error, answer } = made
  const first: FirstTry = [startedAt, durationMs, status, error, answer]
  const isFirst = sql`(first_try is null and not exists (select 1 from delivery_tries where delivery_id = ${read.id}))`
  const number = sql`(select coalesce(max(number), iif(first_try is null, 0, 1)) + 1 from delivery_tries where delivery_id = ${read.id})`
  await runBatch(database.sql, [
    database.sql
      .insert(deliveryTries)
      .select(
        sql`select id, ${number}, ${startedAt}, ${durationMs}, ${status}, ${error}, ${answer} from deliveries where id = ${read.id} and not (${isFirst} and ${isUnchanged(database, read)})`,
      ),
    database.sql
      .update(deliveries)
      .set({ ...set, firstTry: sql`iif(${isFirst}, ${JSON.stringify(first)}, first_try)` })
      .where(isUnchanged(database, read)),
    ...(receiver === null ? [] : [noteTry(database, { ...made, receiver })]),
  ])
}

/** A delivery to come; its account is the database's. */
export type NewDelivery = Omit<typeof deliveries.$inferInsert, "accountId">

export async function insertDelivery(
  { accountId, sql: database }: AccountDatabase,
  made: NewDelivery,
): Promise<void> {
  await database.insert(deliveries).values({ ...made, accountId })
}

/** Makes a delivery due again, with all its tries before it; those that were made stay logged. */
export async function resetDelivery(
  { accountId, sql: database }: AccountDatabase,
  id: string,
  now: number,
): Promise<void> {
  await database
    .update(deliveries)
    .set({ state: "waiting", tries: 0, nextTryAt: now, completedAt: null })
    .where(and(eq(deliveries.id, id), eq(deliveries.accountId, accountId)))
}

/** A delivery as its caller reads it, without what is sent. */
type ShownDelivery = Omit<Delivery, "body" | "bodyObjectKey">

/** Tries of a delivery that a list shows: those of a round and of one before it. */
const LISTED_TRIES_MAX = 16

export type LoggedDelivery = { delivery: ShownDelivery; tries: DeliveryTry[] }

const { body: _body, bodyObjectKey: _bodyObjectKey, ...shownColumns } = getTableColumns(deliveries)

export async function findDelivery(
  { accountId, sql: database }: AccountDatabase,
  id: string,
): Promise<LoggedDelivery | null> {
  const found = await database
    .select(shownColumns)
    .from(deliveries)
    .where(and(eq(deliveries.id, id), eq(deliveries.accountId, accountId)))
    .limit(1)
  const [logged] = await withTries(database, found)
  return logged ?? null
}

/** Deliveries of the account, newest first, each with its last tries. */
export async function listDeliveries(
  { accountId, sql: database }: AccountDatabase,
  page: Page,
  only: { jobId?: string | undefined; state?: DeliveryState | undefined },
): Promise<LoggedDelivery[]> {
  const ofJob = only.jobId === undefined ? undefined : eq(deliveries.jobId, only.jobId)
  const where = and(eq(deliveries.accountId, accountId), ofJob)
  const states = only.state === undefined ? DELIVERY_STATES : [only.state]
  const found = await database
    .select(shownColumns)
    .from(deliveries)
    .where(isOnPage(deliveries, states, { where, page }))
  return await withTries(database, found.toSorted(byNewest), LISTED_TRIES_MAX)
}

async function withTries(
  database: Database,
  found: ShownDelivery[],
  triesMax = Number.MAX_SAFE_INTEGER,
): Promise<LoggedDelivery[]> {
  if (found.length === 0) return []
  const ids = JSON.stringify(found.map(({ id }) => id))
  const lastNumber = sql`(select max(last.number) from ${deliveryTries} last where last.delivery_id = ${deliveryTries.deliveryId})`
  const tries = await database
    .select()
    .from(deliveryTries)
    .where(
      sql`${deliveryTries.deliveryId} in (select value from json_each(${ids})) and ${deliveryTries.number} > ${lastNumber} - ${triesMax}`,
    )
    .orderBy(asc(deliveryTries.number))
  const byDelivery = Map.groupBy(tries, ({ deliveryId }) => deliveryId)
  return found.map((delivery) => {
    const later = byDelivery.get(delivery.id) ?? []
    return { delivery, tries: [...firstTryOf(delivery), ...later] }
  })
}

function firstTryOf({ id, firstTry }: ShownDelivery): DeliveryTry[] {
  if (!firstTry) return []
  const [startedAt, durationMs, status, error, answer] = firstTry
  return [{ deliveryId: id, number: 1, startedAt, durationMs, status, error, answer }]
}

/** That a delivery waits for the same try as when it was read. */
function isUnchanged({ accountId }: AccountDatabase, read: Pick<Delivery, "id" | "nextTryAt">) {
  return and(
    eq(deliveries.id, read.id),
    eq(deliveries.accountId, accountId),
    eq(deliveries.state, "waiting"),
    eq(deliveries.nextTryAt, read.nextTryAt),
  )
}
