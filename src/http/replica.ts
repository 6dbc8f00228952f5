import { madeAt } from "../ids.ts"
import { replicaOf } from "../storage/database.ts"
import type { AccountDatabases } from "../storage/database.ts"
import type { AppContext } from "./request.ts"

/** What was made so long ago is mostly over, and then a replica knows all of it. */
const OLD_MS = 3_600_000

/**
 * The database for what may be a little old, as lists: the nearest replica, but for a caller who may
 * have changed something in the last seconds, and is to see that.
 */
export function listDatabase(c: AppContext): AccountDatabases {
  const hasChanged = c.get("allowance")?.hasChanged ?? true
  return hasChanged ? c.get("database") : replicaOf(c.env, c.get("account").id)
}

/** Where to look first for a job that may be over; null where that is no use. */
export function replicaFor(c: AppContext, id: string): AccountDatabases | null {
  const isOld = Date.now() - madeAt(id) > OLD_MS
  const database = listDatabase(c)
  return isOld && database !== c.get("database") ? database : null
}
