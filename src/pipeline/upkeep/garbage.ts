import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import { databasesOf } from "../../storage/database.ts"
import type { AccountDatabase, Database } from "../../storage/database.ts"
import {
  deleteGarbage,
  listDueGarbage,
  listUnreadPrefixes,
  postponeGarbage,
} from "../../storage/garbage.ts"
import { deletePrefix, prefixOf } from "../../storage/objects.ts"
import type { File } from "../../storage/schema/files.ts"
import { listUploadsBelow } from "../../storage/uploads.ts"
import { removeUpload } from "../uploads/abandon.ts"

const HOUR_MS = 3_600_000
/** A prefix that could not be deleted is tried again after those that wait behind it. */
const RETRY_MS = 60_000
const PASSES = 2
const ROWS_MAX = 100

/** Deletes objects below prefixes without an owner; each is listed again an hour later. */
export async function collectGarbage(env: Env, now: number): Promise<void> {
  for (const database of databasesOf(env)) {
    const due = await listDueGarbage(database, { now, aheadMsMax: HOUR_MS, limit: ROWS_MAX })
    for (const { prefix, passes } of due) {
      const isDone = await doOrLog("sweep.garbage_failed", { prefix }, async () => {
        await collectPrefix(env, database, { prefix, passes, now })
      })
      if (isDone) continue
      await doOrLog("sweep.garbage_failed", { prefix }, async () => {
        await postponeGarbage(database, prefix, { dueAt: now + RETRY_MS, passes })
      })
    }
  }
}

/**
 * Deletes the objects of files that have just been removed, since links open them without a look at
 * their rows; those that a running task reads wait for the sweep, as does what lies beside them.
 */
export async function deleteAtOnce(
  env: Env,
  { sql: database }: AccountDatabase,
  removed: readonly Pick<File, "objectKey" | "bundle">[],
): Promise<void> {
  const objects = removed.flatMap(({ objectKey, bundle }) => {
    return objectKey === null ? [] : [{ objectKey, prefix: prefixOf(objectKey), bundle }]
  })
  if (objects.length === 0) return
  await doOrLog("garbage.not_deleted_at_once", { objects: objects.length }, async () => {
    const prefixes = objects.map(({ prefix }) => prefix)
    const unread = new Set(await listUnreadPrefixes(database, prefixes))
    const gone = objects.filter(({ prefix }) => unread.has(prefix))
    await env.MEDIA.delete(gone.map(({ objectKey }) => objectKey))
    for (const { bundle, prefix } of gone) if (bundle) await deletePrefix(env.MEDIA, prefix)
  })
}

async function collectPrefix(
  env: Env,
  database: Database,
  { prefix, passes, now }: { prefix: string; passes: number; now: number },
): Promise<void> {
  for (const upload of await listUploadsBelow(database, prefix)) await removeUpload(env, upload)
  await deletePrefix(env.MEDIA, prefix)
  if (passes + 1 >= PASSES) await deleteGarbage(database, prefix)
  else await postponeGarbage(database, prefix, { dueAt: now + HOUR_MS, passes: passes + 1 })
}
