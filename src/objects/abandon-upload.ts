import type { Env } from "../bindings/env.ts"
import { runOrLogError } from "../platform/log.ts"
import { openAccountDatabases } from "../db/database.ts"
import type { Database } from "../db/database.ts"
import type { LargeValueWriter } from "../db/values/large-values.ts"
import { abortMultipartUpload } from "./objects.ts"
import { stopPartWriter } from "./part-writer.ts"
import type { PartWriter } from "./part-writer.ts"
import type { Upload } from "../db/schema/uploads.ts"
import { deleteUploadRows, markUploadsForRemoval } from "../db/files/uploads.ts"

/**
 * Maximum duration of an upload, in milliseconds. The sweep removes an unfinished upload an hour
 * after this time.
 */
export const UPLOAD_MS_MAX = 23 * 3_600_000

/**
 * Stops a part writer and removes the bytes that the writer stored. Does nothing if no bytes were
 * stored.
 */
export async function abandonPartWriter(env: Env, writer: PartWriter): Promise<void> {
  if (await stopPartWriter(writer)) await abandonOwn(env, [writer.upload])
}

/**
 * Removes large values (too large for a row) from R2, because the D1 batch with the rows that refer
 * to them was not written.
 */
export async function abandonLargeValues(env: Env, { uploads }: LargeValueWriter): Promise<void> {
  await abandonOwn(env, uploads)
}

/** Removes uploads that all belong to the same account. */
async function abandonOwn(env: Env, uploads: readonly Upload[]): Promise<void> {
  const [first] = uploads
  if (!first) return
  const { sql } = openAccountDatabases(env, first.accountId)
  await abortUploadsWithoutJob(env, sql, uploads, Date.now())
}

/**
 * Aborts uploads of one database and removes their bytes. Keeps uploads that became the input of a
 * job in the meantime. Runs three D1 statements in total.
 */
export async function abortUploadsWithoutJob(
  env: Env,
  database: Database,
  uploads: readonly Upload[],
  now: number,
): Promise<void> {
  if (uploads.length === 0) return
  const unowned = new Set(await markUploadsForRemoval(database, idsOf(uploads), now))
  const own = uploads.filter(({ id }) => unowned.has(id))
  await removeUploadsWithBytes(env, database, own)
}

/**
 * Removes uploads that belong to no job or file, with their bytes. Logs each upload that could not
 * be removed, and then returns false.
 */
export async function removeUploadsWithBytes(
  env: Env,
  database: Database,
  uploads: readonly Upload[],
): Promise<boolean> {
  const abandoned: Upload[] = []
  for (const upload of uploads) {
    const isGone = await runOrLogError(
      "uploads.not_removed",
      { upload_id: upload.id },
      async () => {
        await abortMultipartUpload(env.MEDIA, upload)
        if (upload.taskId === null) await env.MEDIA.delete(upload.objectKey)
      },
    )
    if (isGone) abandoned.push(upload)
  }
  await deleteUploadRows(database, idsOf(abandoned))
  return abandoned.length === uploads.length
}

function idsOf(uploads: readonly Upload[]): string[] {
  return uploads.map(({ id }) => id)
}
