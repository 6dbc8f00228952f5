import { and, asc, eq, inArray, sql } from "drizzle-orm"
import type { AccountDatabase } from "./database.ts"
import type { TaskAttempt } from "./objects.ts"
import { tasks } from "./schema/tasks.ts"
import { uploadParts, uploads } from "./schema/uploads.ts"
import type { Upload } from "./schema/uploads.ts"
import { outputKeysOf, runsAt } from "./tasks.ts"

/** A part of an upload as R2 has it. */
export type UploadPart = Omit<typeof uploadParts.$inferSelect, "uploadId">

const { number, etag, sizeBytes } = uploadParts

/** The parts of an upload of the account that are known to be stored, in their order. */
export async function listParts(
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
 * Begins to store a part for a task that runs at this fence, so that what was known of the part no longer
 * counts: the keys of the task's outputs, null where it does not run, and the upload, null where there is
 * none. One call of the database, since a large file has thousands of parts.
 */
export async function beginPart(
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
  const isRunning = sql`exists (select 1 from ${tasks} where ${runsAt(accountId, attempt)})`
  const [[task], [upload]] = await database.batch([
    database.select({ work: tasks.work }).from(tasks).where(runsAt(accountId, attempt)),
    database.select().from(uploads).where(isIts).limit(1),
    database
      .delete(uploadParts)
      .where(and(inArray(uploadParts.uploadId, itsId), eq(number, part.number), isRunning)),
  ])
  return { outputKeys: task ? outputKeysOf(task.work) : null, upload: upload ?? null }
}

/**
 * Notes a part that was stored, where the upload is still there. Where the part was stored twice at once,
 * the note that comes last counts.
 */
export async function notePart(
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
