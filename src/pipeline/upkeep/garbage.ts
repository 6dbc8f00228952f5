import type { Env } from "../../env.ts"
import { databasesOf } from "../../storage/database.ts"
import { deleteGarbage, listDueGarbage, postponeGarbage } from "../../storage/garbage.ts"
import { deletePrefix } from "../../storage/objects.ts"
import { listUploadsBelow } from "../../storage/uploads.ts"
import { removeUpload } from "../uploads/abandon.ts"

const HOUR_MS = 3_600_000
const PASSES = 2
const ROWS_MAX = 100

/** Deletes objects below prefixes without an owner; each is listed again an hour later. */
export async function collectGarbage(env: Env, now: number): Promise<void> {
  for (const database of databasesOf(env)) {
    for (const { prefix, passes } of await listDueGarbage(database, now, ROWS_MAX)) {
      for (const upload of await listUploadsBelow(database, prefix)) await removeUpload(env, upload)
      await deletePrefix(env.MEDIA, prefix)
      if (passes + 1 >= PASSES) await deleteGarbage(database, prefix)
      else await postponeGarbage(database, prefix, { dueAt: now + HOUR_MS, passes: passes + 1 })
    }
  }
}
