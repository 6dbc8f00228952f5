import { and, eq, gt, lt } from "drizzle-orm"
import type { AccountDatabase, Database, Statement } from "../database.ts"
import { selectInputRows } from "../files/input-files.ts"
import type { InputIds, InputRows } from "../files/input-files.ts"
import { idempotency, jobs } from "../schema/jobs.ts"
import type { Idempotency } from "../../domain/job-draft.ts"

/**
 * Time in milliseconds for which a request with the same idempotency key returns the job of the
 * first request.
 */
const IDEMPOTENCY_MS = 24 * 3_600_000

/**
 * Use of an idempotency key: the job that was created, the ids of the job's Files by output key,
 * and the hash of the request's body.
 */
export type UsedIdempotencyKey = {
  jobId: string
  fileIds: Record<string, string> | null
  bodyHash: string
}

/**
 * Returns the use of an account's idempotency key within the last day; null if the key is unused.
 */
export async function findIdempotencyKey(
  database: AccountDatabase,
  key: string,
  now: number,
): Promise<UsedIdempotencyKey | null> {
  const [row] = await selectIdempotency(database, key, now)
  return row ?? null
}

/** Combines `findInputRows` and `findIdempotencyKey` in one database request. */
export async function findInputRowsAndIdempotencyKey(
  database: AccountDatabase,
  ids: InputIds,
  { key, now }: { key: string; now: number },
): Promise<{ rows: InputRows; known: UsedIdempotencyKey | null }> {
  const [files, jobs, [known = null]] = await database.sql.batch([
    ...selectInputRows(database, ids),
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
      jobId: idempotency.jobId,
      fileIds: jobs.fileIds,
      bodyHash: idempotency.bodyHash,
    })
    .from(idempotency)
    .leftJoin(jobs, eq(jobs.id, idempotency.jobId))
    .where(
      and(
        eq(idempotency.accountId, accountId),
        eq(idempotency.key, key),
        gt(idempotency.createdAt, now - IDEMPOTENCY_MS),
      ),
    )
    .limit(1)
}

/**
 * Returns statements that assign an idempotency key to a job. The batch fails if the key is already
 * assigned.
 */
export function insertIdempotencyKey(
  { accountId, sql: database }: AccountDatabase,
  { key, bodyHash }: Idempotency,
  { jobId, createdAt }: { jobId: string; createdAt: number },
): Statement[] {
  const isExpired = and(
    eq(idempotency.accountId, accountId),
    eq(idempotency.key, key),
    lt(idempotency.createdAt, createdAt - IDEMPOTENCY_MS),
  )
  return [
    database.delete(idempotency).where(isExpired),
    database.insert(idempotency).values({ accountId, key, bodyHash, jobId, createdAt }),
  ]
}

/** Deletes the idempotency keys of all accounts that are older than a day. */
export async function deleteExpiredIdempotencyKeys(database: Database, now: number): Promise<void> {
  await database.delete(idempotency).where(lt(idempotency.createdAt, now - IDEMPOTENCY_MS))
}
