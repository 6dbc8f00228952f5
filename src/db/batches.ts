import { and, desc, eq, isNotNull, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { pageBoundsCondition } from "./paging.ts"
import type { ListPageQuery } from "./paging.ts"
import { getListedJobColumns } from "./values/listed-jobs.ts"
import { deliveries } from "./schema/deliveries.ts"
import type { BatchWithJobs } from "../domain/batch.ts"
import { batches } from "./schema/batches.ts"
import type { Batch } from "./schema/batches.ts"
import { idempotencyKeys, jobDependencies, jobs } from "./schema/jobs.ts"

/**
 * New batch of jobs that one request creates. Fields that are computed from the jobs, such as their
 * number, are absent.
 */
export type NewBatch = Pick<
  Batch,
  "id" | "origin" | "webhookUrl" | "metadata" | "retryOf" | "retentionMs" | "createdAt"
>

/** Returns the statement that inserts a batch with `jobCount` open jobs. */
export function insertBatchStatement(
  { accountId, sql: database }: AccountDatabase,
  batch: NewBatch,
  { keyId, requestId, jobCount }: Pick<Batch, "keyId" | "requestId"> & { jobCount: number },
): Statement {
  const counts = { totalJobs: jobCount, openJobs: jobCount }
  return database.insert(batches).values({ ...batch, ...counts, keyId, requestId, accountId })
}

/**
 * Reads a batch with its jobs and the dependencies between them in one consistent read. Deleted
 * jobs are absent. Returns null if the account has no such batch.
 */
export async function findBatch(
  { accountId, sql: database }: AccountDatabase,
  id: string,
): Promise<BatchWithJobs | null> {
  // The unary `+` prevents the use of the index on `account_id`, so that SQLite looks up jobs by
  // batch id.
  const isOfBatch = and(eq(jobs.batchId, id), sql`+${jobs.accountId} = ${accountId}`)
  const [[batch], jobRows, dependencies] = await database.batch([
    database
      .select()
      .from(batches)
      .where(and(eq(batches.id, id), eq(batches.accountId, accountId))),
    database.select(getListedJobColumns("none")).from(jobs).where(isOfBatch).orderBy(jobs.id),
    database
      .select({ jobId: jobDependencies.jobId, neededJobId: jobDependencies.neededJobId })
      .from(jobDependencies)
      .innerJoin(jobs, eq(jobs.id, jobDependencies.jobId))
      .where(isOfBatch),
  ])
  return batch ? { batch, jobs: jobRows, dependencies } : null
}

/** Returns a page of the account's batches, newest first. */
export async function listBatches(
  { accountId, sql: database }: AccountDatabase,
  page: ListPageQuery,
): Promise<Batch[]> {
  return await database
    .select()
    .from(batches)
    .where(and(eq(batches.accountId, accountId), pageBoundsCondition(batches, page)))
    .orderBy(desc(batches.id))
    .limit(page.limit)
    .offset(page.offset)
}

/**
 * Deletes the row of a batch after the removal of its jobs. The batch's idempotency key can then be
 * used again.
 */
export async function deleteBatchRow(
  { accountId, sql: database }: AccountDatabase,
  id: string,
): Promise<void> {
  await database.batch([
    database.delete(batches).where(and(eq(batches.id, id), eq(batches.accountId, accountId))),
    database
      .delete(idempotencyKeys)
      .where(and(eq(idempotencyKeys.accountId, accountId), eq(idempotencyKeys.jobId, id))),
  ])
}

/** End of a job that belongs to a batch. */
export type BatchJobEnd = { batchId: string; isSucceeded: boolean; now: number }

/**
 * Returns the statement that counts the end of a job in its batch if `condition` holds. The end of
 * the last job completes the batch.
 */
export function countBatchJobEndStatement(
  { accountId, sql: database }: AccountDatabase,
  { batchId, isSucceeded, now }: BatchJobEnd,
  condition: SQL,
): Statement {
  return database
    .update(batches)
    .set({
      openJobs: sql`open_jobs - 1`,
      failedJobs: sql`failed_jobs + ${isSucceeded ? 0 : 1}`,
      completedAt: sql`case when open_jobs = 1 then ${now} end`,
    })
    .where(and(eq(batches.id, batchId), eq(batches.accountId, accountId), condition))
    .returning({ openJobs: batches.openJobs })
}

/** Types of the webhook events about the end of a batch. */
export const BATCH_EVENT_TYPES = ["batch.succeeded", "batch.failed"] as const
export type BatchEventType = (typeof BATCH_EVENT_TYPES)[number]

/** Receiver of the event about a batch's end: an endpoint, or the webhook URL of the request. */
export type BatchReceiver = {
  deliveryId: string
  /**
   * Endpoint with the batch event types to which it subscribes; null for the request's webhook URL.
   */
  endpoint: { id: string; url: string; types: readonly BatchEventType[] } | null
}

/**
 * Returns the statement that inserts the delivery of a batch's end to a receiver, if the batch is
 * complete and `condition` holds. The body is written later, just before the first try, because it
 * requires the rows of all jobs of the batch.
 */
export function insertBatchDeliveryStatement(
  { accountId, sql: database }: AccountDatabase,
  { deliveryId, endpoint }: BatchReceiver,
  { batchId, now }: Pick<BatchJobEnd, "batchId" | "now">,
  condition: SQL,
): Statement {
  const type = sql`case when failed_jobs = 0 then 'batch.succeeded' else 'batch.failed' end`
  const types = JSON.stringify(endpoint?.types ?? BATCH_EVENT_TYPES)
  const url = endpoint ? sql`${endpoint.url}` : sql`webhook_url`
  const empty = sql.param("", deliveries.body)
  return database
    .insert(deliveries)
    .select(
      sql`select ${deliveryId}, account_id, id, ${endpoint?.id ?? ""}, ${type}, ${url}, ${empty}, null, 'waiting', 0, null, ${now}, ${now}, null from ${batches} where id = ${batchId} and account_id = ${accountId} and open_jobs = 0 and ${url} is not null and (${type}) in (select value from json_each(${types})) and ${condition}`,
    )
    .onConflictDoNothing()
}

/**
 * Deletes some batches of all accounts whose retention is over. A batch without a retention is
 * deleted if it ended before `endedBefore`. A batch stays while the body of one of its waiting
 * webhooks is not written, since the body describes the batch. Returns true if more may remain.
 */
export async function deleteExpiredBatches(
  database: Database,
  { now, endedBefore, limit }: { now: number; endedBefore: number; limit: number },
): Promise<boolean> {
  const isOver = sql`completed_at + coalesce(retention_ms, ${now - endedBefore}) <= ${now}`
  const isTold = sql`not exists (select 1 from ${deliveries} where job_id = ${batches.id} and state = 'waiting' and body = '' and body_object_key is null)`
  const old = await database
    .select({ id: batches.id, accountId: batches.accountId })
    .from(batches)
    .where(and(isNotNull(batches.completedAt), isOver, isTold))
    .limit(limit)
  if (old.length === 0) return false
  const ids = sql`(select value from json_each(${JSON.stringify(old.map(({ id }) => id))}))`
  const accountIds = sql`(select value from json_each(${JSON.stringify(old.map(({ accountId }) => accountId))}))`
  await database.batch([
    database.delete(batches).where(sql`${batches.id} in ${ids}`),
    database
      .delete(idempotencyKeys)
      .where(
        sql`${idempotencyKeys.accountId} in ${accountIds} and ${idempotencyKeys.jobId} in ${ids}`,
      ),
  ])
  return old.length === limit
}
