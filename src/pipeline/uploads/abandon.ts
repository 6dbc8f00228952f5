import type { Env } from "../../env.ts"
import { databaseOf } from "../../storage/database.ts"
import type { ValueWriter } from "../../storage/large-values.ts"
import { abortUpload } from "../../storage/objects.ts"
import { stopWriting } from "../../storage/part-writer.ts"
import type { PartWriter } from "../../storage/part-writer.ts"
import type { Upload } from "../../storage/schema/uploads.ts"
import { closeUpload, markDying } from "../../storage/uploads.ts"

/** An upload takes no longer; a while later the sweep takes it for left by something that died. */
export const UPLOAD_MS_MAX = 23 * 3_600_000

/** Abandons what a writer began; one that stored nothing has left nothing. */
export async function abandonWriter(env: Env, writer: PartWriter): Promise<void> {
  if (await stopWriting(writer)) await abandonUpload(env, writer.upload, Date.now())
}

/** Removes large values that no batch has taken. */
export async function abandonValues(env: Env, { uploads }: ValueWriter): Promise<void> {
  for (const upload of uploads) await abandonUpload(env, upload, Date.now())
}

/** Aborts an upload and removes what it stored, unless a job has taken it meanwhile. */
export async function abandonUpload(env: Env, upload: Upload, now: number): Promise<void> {
  if (!(await markDying(databaseOf(env, upload.accountId), upload.id, now))) return
  await removeUpload(env, upload)
}

/** Removes an upload without an owner, with what it stored. */
export async function removeUpload(env: Env, upload: Upload): Promise<void> {
  await abortUpload(env.MEDIA, upload)
  if (upload.taskId === null) await env.MEDIA.delete(upload.objectKey)
  await closeUpload(databaseOf(env, upload.accountId), upload.id)
}
