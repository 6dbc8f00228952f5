import { and, eq, gt, lt } from "drizzle-orm"
import type { AccountDatabase, Database, Statement } from "../database.ts"
import { selectInputRowsStatements } from "../files/input-files.ts"
import type { InputIds, InputRows } from "../files/input-files.ts"
import { idempotencyKeys, jobs } from "../schema/jobs.ts"
import type { IdempotencyKeyUse } from "../../domain/job-draft.ts"

/**
 * Time in milliseconds for which a request with the same idempotency key returns the job of the
 * first request.
 */
const IDEMPOTENCY_MS = 24 * 3_600_000

/**
 * Earlier request with an idempotency key: the job that the request created, the ids of the job's
 * output files by output key, and the hash of the request's body.
 */
export type UsedIdempotencyKey = {
  jobId: string
  fileIds: Record<string, string> | null
  bodyHash: string
}

/**
 * Returns the request that used an account's idempotency key within the last day; null if none did.
 */
export async function findIdempotencyKey(
  database: AccountDatabase,
  key: string,
  now: number,
): Promise<UsedIdempotencyKey | null> {
  const [row] = await selectIdempotency(database, key, now)
  return row ?? null
}

/** Runs `findInputRows` and `findIdempotencyKey` together in one request to the database. */
export async function findInputRowsAndIdempotencyKey(
  database: AccountDatabase,
  ids: InputIds,
  { key, now }: { key: string; now: number },
): Promise<{ rows: InputRows; known: UsedIdempotencyKey | null }> {
  const [files, jobs, [known = null]] = await database.sql.batch([
    ...selectInputRowsStatements(database, ids),
    selectIdempotency(database, key, now),
  ])
  return { rows: { files, jobs }, known }
}

function selectIdempotency(
  { accountId, sql: database }: AccountDatabase,
  key: string,
  now: number,
) {
  return database
    .select({
      jobId: idempotencyKeys.jobId,
      fileIds: jobs.fileIds,
      bodyHash: idempotencyKeys.bodyHash,
    })
    .from(idempotencyKeys)
    .leftJoin(jobs, eq(jobs.id, idempotencyKeys.jobId))
    .where(
      and(
        eq(idempotencyKeys.accountId, accountId),
        eq(idempotencyKeys.key, key),
        gt(idempotencyKeys.createdAt, now - IDEMPOTENCY_MS),
      ),
    )
    .limit(1)
}

/**
 * Returns statements that assign an idempotency key to a job. The batch fails if the key is already
 * assigned.
 */
export function insertIdempotencyKeyStatements(
  { accountId, sql: database }: AccountDatabase,
  { key, bodyHash }: IdempotencyKeyUse,
  { jobId, createdAt }: { jobId: string; createdAt: number },
): Statement[] {
  const isExpired = and(
    eq(idempotencyKeys.accountId, accountId),
    eq(idempotencyKeys.key, key),
    lt(idempotencyKeys.createdAt, createdAt - IDEMPOTENCY_MS),
  )
  return [
    database.delete(idempotencyKeys).where(isExpired),
    database.insert(idempotencyKeys).values({ accountId, key, bodyHash, jobId, createdAt }),
  ]
}

/** Deletes the idempotency keys of all accounts that are older than a day. */
export async function deleteExpiredIdempotencyKeys(database: Database, now: number): Promise<void> {
  await database.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, now - IDEMPOTENCY_MS))
}
