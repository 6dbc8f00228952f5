import { and, eq, gt, lt } from "drizzle-orm"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { selectFiles } from "./files.ts"
import type { File } from "./schema/files.ts"
import { idempotency } from "./schema/jobs.ts"

/** How long a create may be sent again and answered with the job it made. */
const IDEMPOTENCY_MS = 24 * 3_600_000

/** What makes a create safe to send again: the caller's key, and the hash of what was asked. */
export type Idempotency = { key: string; bodyHash: string }

/** The job that a key was used for, and the hash of what was asked. */
export type KnownKey = { jobId: string; bodyHash: string }

/** What the account's key stands for since less than a day; null where it is free. */
export async function findIdempotency(
  database: AccountDatabase,
  key: string,
  now: number,
): Promise<KnownKey | null> {
  const [row] = await selectIdempotency(database, key, now)
  return row ?? null
}

/** Files as `findFiles` and a key as `findIdempotency` find them, in one trip. */
export async function findFilesAndKey(
  database: AccountDatabase,
  fileIds: readonly string[],
  { key, now }: { key: string; now: number },
): Promise<{ files: File[]; known: KnownKey | null }> {
  const [files, [known = null]] = await database.sql.batch([
    selectFiles(database, fileIds),
    selectIdempotency(database, key, now),
  ])
  return { files, known }
}

function selectIdempotency(
  { accountId, sql: database }: AccountDatabase,
  key: string,
  now: number,
) {
  return database
    .select({ jobId: idempotency.jobId, bodyHash: idempotency.bodyHash })
    .from(idempotency)
    .where(
      and(
        eq(idempotency.accountId, accountId),
        eq(idempotency.key, key),
        gt(idempotency.createdAt, now - IDEMPOTENCY_MS),
      ),
    )
    .limit(1)
}

/** Statements that tie a key to a job; the batch fails where the key is tied already. */
export function insertIdempotency(
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

/** Deletes keys of all accounts that are older than a day. */
export async function deleteExpiredIdempotency(database: Database, now: number): Promise<void> {
  await database.delete(idempotency).where(lt(idempotency.createdAt, now - IDEMPOTENCY_MS))
}
