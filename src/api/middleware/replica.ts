import { readCreationTime } from "../../platform/ids.ts"
import { openAccountReplicas } from "../../db/database.ts"
import type { AccountDatabases } from "../../db/database.ts"
import type { AppContext } from "../context.ts"

/**
 * Age in milliseconds above which a job counts as old. An old job has most likely ended, and read
 * replicas have its final state.
 */
const OLD_JOB_MS = 3_600_000

/**
 * Returns the nearest read replicas, for reads that may lag, such as lists. Returns the primary
 * databases if the caller made a change in the last seconds.
 */
export function chooseDatabasesForLists(c: AppContext): AccountDatabases {
  const hasChanged = c.get("allowance")?.hasChanged ?? true
  return hasChanged ? c.get("database") : openAccountReplicas(c.env, c.get("account").id)
}

/**
 * Returns the read replica to query before the primary for an old job. Returns null for a newer
 * job, or if the caller made a change in the last seconds.
 */
export function chooseJobReplica(c: AppContext, id: string): AccountDatabases | null {
  const isOld = Date.now() - readCreationTime(id) > OLD_JOB_MS
  const database = chooseDatabasesForLists(c)
  return isOld && database !== c.get("database") ? database : null
}
