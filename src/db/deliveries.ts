import { and, asc, eq, getTableColumns, isNull, lte, sql } from "drizzle-orm"
import { z } from "zod"
import { runBatch } from "./database.ts"
import type { AccountDatabase, Database } from "./database.ts"
import { compareNewestFirst, buildStatesPageCondition } from "./paging.ts"
import type { ListPageQuery } from "./paging.ts"
import { updateReceiverOutageStatement } from "./receiver-outages.ts"
import { accounts } from "./schema/accounts.ts"
import type { Account } from "./schema/accounts.ts"
import { deliveries, deliveryTries, webhookEndpoints } from "./schema/deliveries.ts"
import type {
  Delivery,
  DeliveryTry,
  FirstTryColumns,
  WebhookEndpoint,
} from "./schema/deliveries.ts"
import { deleteCompletedUploadsStatements } from "./files/uploads.ts"
import { jobs } from "./schema/jobs.ts"
import type { Upload } from "./schema/uploads.ts"
import { disableGoneEndpointStatement } from "./webhook-endpoints.ts"
import { DELIVERY_STATES } from "../domain/states.ts"
import type { DeliveryState } from "../domain/states.ts"

/** Returns the ids of a job's webhook deliveries that still wait for a try. */
export async function listWaitingDeliveries(
  { accountId, sql: database }: AccountDatabase,
  jobId: string,
): Promise<string[]> {
  const rows = await database
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(and(isOfJob(accountId, jobId), eq(deliveries.state, "waiting")))
  return rows.map(({ id }) => id)
}

/**
 * Returns the webhook deliveries of all accounts whose next try is due, the longest overdue first.
 */
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

/**
 * Webhook delivery whose next try is due, with its account and its endpoint, and the id of the HTTP
 * request that created its job.
 */
export type DueDelivery = {
  delivery: Delivery
  account: Account
  endpoint: WebhookEndpoint | null
  requestId: string | null
}

/** SQL for the id of the HTTP request that created a delivery's job or batch. */
const requestIdOfOwner = sql<string | null>`coalesce(
  (select request_id from jobs where jobs.id = ${deliveries.jobId}),
  (select request_id from batches where batches.id = ${deliveries.jobId}))`.mapWith(jobs.requestId)

/**
 * Claims the next try of a due delivery for one consumer. After `claimedUntil`, another consumer
 * may claim the try. Returns the delivery with its account and endpoint, whose secrets sign the
 * webhook; null if the delivery is not due or already claimed.
 */
export async function claimDueDelivery(
  { accountId, sql: database }: AccountDatabase,
  id: string,
  { now, claimedUntil }: { now: number; claimedUntil: number },
): Promise<DueDelivery | null> {
  const isIt = and(eq(deliveries.id, id), eq(deliveries.accountId, accountId))
  const [claimed, [delivery], [account], [job], [endpoint = null]] = await database.batch([
    database
      .update(deliveries)
      .set({ nextTryAt: claimedUntil })
      .where(and(isIt, eq(deliveries.state, "waiting"), lte(deliveries.nextTryAt, now)))
      .returning({ id: deliveries.id }),
    database.select().from(deliveries).where(isIt),
    database.select().from(accounts).where(eq(accounts.id, accountId)),
    database.select({ requestId: requestIdOfOwner }).from(deliveries).where(isIt),
    database
      .select()
      .from(webhookEndpoints)
      .where(sql`${webhookEndpoints.id} = (select endpoint_id from ${deliveries} where ${isIt})`),
  ])
  if (claimed.length === 0 || !delivery || !account) return null
  return { delivery, account, endpoint, requestId: job?.requestId ?? null }
}

const hasNoBody = and(eq(deliveries.body, ""), isNull(deliveries.bodyObjectKey))

/**
 * Returns at most `limit` waiting deliveries whose body is not written yet. With `jobId`, the id of
 * a job or of a batch, returns only the deliveries about that job or batch.
 */
export async function listDeliveriesWithoutBody(
  { accountId, sql: database }: AccountDatabase,
  { jobId, limit }: { jobId?: string; limit: number },
): Promise<Delivery[]> {
  const isOwn =
    jobId === undefined ? eq(deliveries.accountId, accountId) : isOfJob(accountId, jobId)
  return await database
    .select()
    .from(deliveries)
    .where(and(isOwn, eq(deliveries.state, "waiting"), hasNoBody))
    .limit(limit)
}

/**
 * Stores the body of a delivery unless the delivery already has a body. Returns the body that is
 * now stored; null if the delivery was deleted. The same batch deletes the rows of `bodyUploads`,
 * because the delivery now owns the R2 object of the body.
 */
export async function storeDeliveryBody(
  database: AccountDatabase,
  { id, body, bodyObjectKey }: Pick<Delivery, "id" | "body" | "bodyObjectKey">,
  bodyUploads: readonly Pick<Upload, "id">[],
): Promise<Pick<Delivery, "body" | "bodyObjectKey"> | null> {
  const { accountId, sql: db } = database
  const isIt = and(eq(deliveries.id, id), eq(deliveries.accountId, accountId))
  const isUnwritten = sql`exists (select 1 from ${deliveries} where ${and(isIt, hasNoBody)})`
  const uploadIds = bodyUploads.map((upload) => upload.id)
  const results = await runBatch(db, [
    ...deleteCompletedUploadsStatements(database, uploadIds, isUnwritten),
    db.update(deliveries).set({ body, bodyObjectKey }).where(and(isIt, hasNoBody)),
    db
      .select({ body: deliveries.body, bodyObjectKey: deliveries.bodyObjectKey })
      .from(deliveries)
      .where(isIt),
  ])
  return z.array(storedBodySchema).parse(results.at(-1))[0] ?? null
}

const storedBodySchema = z.object({ body: z.string(), bodyObjectKey: z.string().nullable() })

/**
 * Postpones the next try of a waiting delivery. Returns false if the delivery has changed since it
 * was read.
 */
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
 * Stores a try of a webhook delivery, and updates the delivery unless it has changed since it was
 * read. If `receiver` (the origin of the URL) is set, the try also begins, continues or ends the
 * outage of that receiver. `isGone` (a 410 response) disables the endpoint.
 */
export async function saveDeliveryTry(
  database: AccountDatabase,
  read: Pick<Delivery, "id" | "nextTryAt" | "endpointId" | "url">,
  newTry: Omit<DeliveryTry, "deliveryId" | "number">,
  {
    set,
    receiver,
    isGone,
  }: {
    set: Pick<Delivery, "state" | "tries" | "nextTryAt" | "completedAt">
    receiver: string | null
    isGone: boolean
  },
): Promise<void> {
  const { endpointId, url } = read
  const { startedAt, durationMs, status, error, answer } = newTry
  const first: FirstTryColumns = [startedAt, durationMs, status, error, answer]
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
    ...(receiver === null
      ? []
      : [updateReceiverOutageStatement(database, { ...newTry, receiver })]),
    ...(isGone && endpointId !== ""
      ? [disableGoneEndpointStatement(database, { endpointId, url }, startedAt + durationMs)]
      : []),
  ])
}

/** Row of a new delivery without the account's id, which `insertDelivery` and transitions add. */
export type NewDelivery = Omit<typeof deliveries.$inferInsert, "accountId">

export async function insertDelivery(
  { accountId, sql: database }: AccountDatabase,
  newDelivery: NewDelivery,
): Promise<void> {
  await database.insert(deliveries).values({ ...newDelivery, accountId })
}

/**
 * Resets a webhook delivery for a replay: the delivery is due now, with no tries used and with the
 * current URL of its endpoint. Does nothing if the account has no such delivery.
 */
export async function resetDeliveryForReplay(
  { accountId, sql: database }: AccountDatabase,
  id: string,
  now: number,
): Promise<void> {
  await database
    .update(deliveries)
    .set({ state: "waiting", tries: 0, nextTryAt: now, completedAt: null, url: CURRENT_URL })
    .where(and(eq(deliveries.id, id), eq(deliveries.accountId, accountId)))
}

/**
 * SQL for the current URL of a delivery's endpoint. If the delivery has no endpoint, the SQL yields
 * the stored URL of the delivery.
 */
const CURRENT_URL = sql`coalesce((select url from webhook_endpoints as own where own.id = endpoint_id and own.account_id = ${deliveries.accountId}), url)`

/** Row of a webhook delivery without the body. */
type ShownDelivery = Omit<Delivery, "body" | "bodyObjectKey">

/**
 * Number of tries that a list shows for each webhook delivery. The number suffices for all tries
 * since the last replay, and the last try before the replay.
 */
const LISTED_TRIES_MAX = 16

/** Row of a webhook delivery without the body, and its stored tries in order. */
export type DeliveryWithTries = { delivery: ShownDelivery; tries: DeliveryTry[] }

const { body: _body, bodyObjectKey: _bodyObjectKey, ...shownColumns } = getTableColumns(deliveries)

export async function findDelivery(
  { accountId, sql: database }: AccountDatabase,
  id: string,
): Promise<DeliveryWithTries | null> {
  const rows = await database
    .select(shownColumns)
    .from(deliveries)
    .where(and(eq(deliveries.id, id), eq(deliveries.accountId, accountId)))
    .limit(1)
  const [logged] = await withTries(database, rows)
  return logged ?? null
}

/**
 * Returns a page of the account's webhook deliveries, newest first. Each delivery has its last
 * tries.
 */
export async function listDeliveries(
  { accountId, sql: database }: AccountDatabase,
  page: ListPageQuery,
  only: { jobId?: string | undefined; state?: DeliveryState | undefined },
): Promise<DeliveryWithTries[]> {
  const where =
    only.jobId === undefined ? eq(deliveries.accountId, accountId) : isOfJob(accountId, only.jobId)
  const states = only.state === undefined ? DELIVERY_STATES : [only.state]
  const rows = await database
    .select(shownColumns)
    .from(deliveries)
    .where(buildStatesPageCondition(deliveries, states, { where, page }))
  return await withTries(database, rows.toSorted(compareNewestFirst), LISTED_TRIES_MAX)
}

async function withTries(
  database: Database,
  shownDeliveries: ShownDelivery[],
  triesMax = Number.MAX_SAFE_INTEGER,
): Promise<DeliveryWithTries[]> {
  if (shownDeliveries.length === 0) return []
  const ids = JSON.stringify(shownDeliveries.map(({ id }) => id))
  const lastNumber = sql`(select max(last.number) from ${deliveryTries} last where last.delivery_id = ${deliveryTries.deliveryId})`
  const tries = await database
    .select()
    .from(deliveryTries)
    .where(
      sql`${deliveryTries.deliveryId} in (select value from json_each(${ids})) and ${deliveryTries.number} > ${lastNumber} - ${triesMax}`,
    )
    .orderBy(asc(deliveryTries.number))
  const byDelivery = Map.groupBy(tries, ({ deliveryId }) => deliveryId)
  return shownDeliveries.map((delivery) => {
    const later = byDelivery.get(delivery.id) ?? []
    return { delivery, tries: [...firstTryOf(delivery), ...later] }
  })
}

function firstTryOf({ id, firstTry }: ShownDelivery): DeliveryTry[] {
  if (!firstTry) return []
  const [startedAt, durationMs, status, error, answer] = firstTry
  return [{ deliveryId: id, number: 1, startedAt, durationMs, status, error, answer }]
}

/** Returns the SQL condition that selects the webhook deliveries for the end of a job. */
function isOfJob(accountId: string, jobId: string) {
  // The unary `+` prevents the use of the indexes on `account_id`. The index on `job_id` is better,
  // because a job has few deliveries.
  return and(eq(deliveries.jobId, jobId), sql`+${deliveries.accountId} = ${accountId}`)
}

/**
 * Returns the SQL condition that a delivery is still waiting and that the time of its next try has
 * not changed since the delivery was read.
 */
function isUnchanged({ accountId }: AccountDatabase, read: Pick<Delivery, "id" | "nextTryAt">) {
  return and(
    eq(deliveries.id, read.id),
    eq(deliveries.accountId, accountId),
    eq(deliveries.state, "waiting"),
    eq(deliveries.nextTryAt, read.nextTryAt),
  )
}
