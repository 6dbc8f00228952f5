import { and, asc, eq, inArray, sql } from "drizzle-orm"
import type { AccountDatabase } from "../database.ts"
import type { TaskAttempt } from "../../domain/object-keys.ts"
import { tasks } from "../schema/tasks.ts"
import { uploadParts, uploads } from "../schema/uploads.ts"
import type { Upload } from "../schema/uploads.ts"
import { getTaskOutputKeys, runningTaskCondition } from "../jobs/tasks.ts"

/** Stored part of a multipart upload in R2. */
export type UploadPart = Omit<typeof uploadParts.$inferSelect, "uploadId">

const { number, etag, sizeBytes } = uploadParts

/** Returns the stored parts of an account's multipart upload, in order. */
export async function listUploadParts(
  { accountId, sql: database }: AccountDatabase,
  uploadId: string,
): Promise<UploadPart[]> {
  return await database
    .select({ number, etag, sizeBytes })
    .from(uploadParts)
    .innerJoin(uploads, eq(uploads.id, uploadParts.uploadId))
    .where(and(eq(uploadParts.uploadId, uploadId), eq(uploads.accountId, accountId)))
    .orderBy(asc(number))
}

/**
 * Begins a part of a multipart upload for a task that runs with this fencing token (the number of
 * its dispatch), and deletes the row of an earlier part with the same number. Returns the keys of
 * the task's outputs (null if the task does not run with the token) and the upload (null if none
 * matches). Takes one database request, because a large file has thousands of parts.
 */
export async function beginUploadPart(
  { accountId, sql: database }: AccountDatabase,
  attempt: TaskAttempt,
  part: { objectKey: string; multipartId: string; number: number },
): Promise<{ outputKeys: string[] | null; upload: Upload | null }> {
  const isIts = and(
    eq(uploads.objectKey, part.objectKey),
    eq(uploads.multipartId, part.multipartId),
    eq(uploads.accountId, accountId),
  )
  const itsId = database.select({ id: uploads.id }).from(uploads).where(isIts)
  const runningTask = runningTaskCondition(accountId, attempt)
  const isRunning = sql`exists (select 1 from ${tasks} where ${runningTask})`
  const [[task], [upload]] = await database.batch([
    database
      .select({ work: tasks.work })
      .from(tasks)
      .where(runningTaskCondition(accountId, attempt)),
    database.select().from(uploads).where(isIts).limit(1),
    database
      .delete(uploadParts)
      .where(and(inArray(uploadParts.uploadId, itsId), eq(number, part.number), isRunning)),
  ])
  return { outputKeys: task ? getTaskOutputKeys(task.work) : null, upload: upload ?? null }
}

/**
 * Inserts the row of a stored part if its upload still exists. The row replaces the row of an
 * earlier part with the same number.
 */
export async function saveUploadPart(
  { accountId, sql: database }: AccountDatabase,
  uploadId: string,
  part: UploadPart,
): Promise<void> {
  const row = sql`select ${uploadId}, ${part.number}, ${part.etag}, ${part.sizeBytes} from ${uploads} where ${uploads.id} = ${uploadId} and ${uploads.accountId} = ${accountId}`
  await database
    .insert(uploadParts)
    .select(row)
    .onConflictDoUpdate({
      target: [uploadParts.uploadId, uploadParts.number],
      set: { etag: part.etag, sizeBytes: part.sizeBytes },
    })
}
