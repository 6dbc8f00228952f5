import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import { databaseOf } from "../../storage/database.ts"
import type { Database } from "../../storage/database.ts"
import type { ValueWriter } from "../../storage/large-values.ts"
import { abortUpload } from "../../storage/objects.ts"
import { stopWriting } from "../../storage/part-writer.ts"
import type { PartWriter } from "../../storage/part-writer.ts"
import type { Upload } from "../../storage/schema/uploads.ts"
import { closeUploads, beginRemoval } from "../../storage/uploads.ts"

/** An upload takes no longer; a while later the sweep takes it for left by something that died. */
export const UPLOAD_MS_MAX = 23 * 3_600_000

/** Abandons what a writer began; one that stored nothing has left nothing. */
export async function abandonWriter(env: Env, writer: PartWriter): Promise<void> {
  if (await stopWriting(writer)) await abandonOwn(env, [writer.upload])
}

/** Removes large values that no batch has taken. */
export async function abandonValues(env: Env, { uploads }: ValueWriter): Promise<void> {
  await abandonOwn(env, uploads)
}

/** Abandons uploads of one account. */
async function abandonOwn(env: Env, uploads: readonly Upload[]): Promise<void> {
  const [first] = uploads
  if (!first) return
  const { sql } = databaseOf(env, first.accountId)
  await abandonUploads(env, sql, uploads, Date.now())
}

/**
 * Aborts uploads of a database and removes what they stored, but for those that a job has taken meanwhile,
 * by three statements for all.
 */
export async function abandonUploads(
  env: Env,
  database: Database,
  uploads: readonly Upload[],
  now: number,
): Promise<void> {
  if (uploads.length === 0) return
  const unowned = new Set(await beginRemoval(database, idsOf(uploads), now))
  const own = uploads.filter(({ id }) => unowned.has(id))
  await removeUploads(env, database, own)
}

/** Removes uploads without an owner, with what they stored; false where some stay, which it logs. */
export async function removeUploads(
  env: Env,
  database: Database,
  uploads: readonly Upload[],
): Promise<boolean> {
  const gone: Upload[] = []
  for (const upload of uploads) {
    const isGone = await doOrLog("uploads.not_removed", { upload_id: upload.id }, async () => {
      await abortUpload(env.MEDIA, upload)
      if (upload.taskId === null) await env.MEDIA.delete(upload.objectKey)
    })
    if (isGone) gone.push(upload)
  }
  await closeUploads(database, idsOf(gone))
  return gone.length === uploads.length
}

function idsOf(uploads: readonly Upload[]): string[] {
  return uploads.map(({ id }) => id)
}
