import { readCreationTime } from "../../platform/ids.ts"
import { openReplicas } from "../../db/database.ts"
import type { AccountDatabases } from "../../db/database.ts"
import type { AppContext } from "../context.ts"

/** Age in ms from which a job has most likely ended, and a replica has its final state. */
const OLD_JOB_MS = 3_600_000

/**
 * Returns the nearest read replica, for reads that may lag, such as lists. Returns the primary if
 * the caller made a change in the last seconds.
 */
export function chooseListDatabase(c: AppContext): AccountDatabases {
  const hasChanged = c.get("allowance")?.hasChanged ?? true
  return hasChanged ? c.get("database") : openReplicas(c.env, c.get("account").id)
}

/** Returns the replica to read an old job from first; null if only the primary may be read. */
export function chooseJobReplica(c: AppContext, id: string): AccountDatabases | null {
  const isOld = Date.now() - readCreationTime(id) > OLD_JOB_MS
  const database = chooseListDatabase(c)
  return isOld && database !== c.get("database") ? database : null
}
