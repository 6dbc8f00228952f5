import type { Env } from "../bindings/env.ts"
import { openAccountDatabases } from "../db/database.ts"
import type { Database } from "../db/database.ts"
import { deleteTusUpload, listExpiredTusUploads } from "../db/files/tus-uploads.ts"
import type { OpenTusUpload } from "../db/files/tus-uploads.ts"
import type { TusUpload } from "../db/schema/uploads.ts"
import { listUploadParts } from "../db/files/upload-parts.ts"
import { abortUploadsWithoutJob } from "./abandon-upload.ts"
import { isMissingUploadError } from "./objects.ts"

/**
 * Completes the object of a tus upload whose bytes are all stored. A repeated call has no further
 * effect. Returns false if R2 lacks the object, because the upload was deleted. Throws if the
 * object has another size.
 */
export async function completeTusObject(
  env: Env,
  { row, upload }: OpenTusUpload,
): Promise<boolean> {
  const { objectKey, multipartId } = upload
  if (multipartId !== null) {
    const parts = await listUploadParts(openAccountDatabases(env, row.accountId), row.id)
    const completed = parts.map(({ number, etag }) => ({ partNumber: number, etag }))
    try {
      await env.MEDIA.resumeMultipartUpload(objectKey, multipartId).complete(completed)
    } catch (error) {
      // A missing multipart upload means that an earlier request has completed the object.
      if (!isMissingUploadError(error)) throw error
    }
  }
  const object = await env.MEDIA.head(objectKey)
  if (!object) return false
  if (object.size === row.sizeBytes) return true
  throw new Error(`tus upload ${row.id} has an object of ${object.size} bytes`)
}

/**
 * Removes a tus upload with all its bytes. Keeps the object if it belongs to a file record. Returns
 * false, and removes nothing, if the upload is finished and `isForced` is not set.
 */
export async function removeTusUpload(
  env: Env,
  row: Pick<TusUpload, "id" | "accountId">,
  { now, isForced }: { now: number; isForced: boolean },
): Promise<boolean> {
  const database = openAccountDatabases(env, row.accountId).sql
  // Delete the row first: without the row, no writer can store progress.
  const upload = await deleteTusUpload(database, row, { now, isForced })
  if (upload === undefined) return false
  if (upload) await abortUploadsWithoutJob(env, database, [upload], now)
  return true
}

/**
 * Removes expired tus uploads of one database, at most `limit`. Returns the number of removed
 * uploads.
 */
export async function removeExpiredTusUploads(
  env: Env,
  database: Database,
  { now, limit }: { now: number; limit: number },
): Promise<number> {
  const expired = await listExpiredTusUploads(database, now, limit)
  for (const row of expired) await removeTusUpload(env, row, { now, isForced: true })
  return expired.length
}
