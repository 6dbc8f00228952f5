import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import { listOpenJobsOfDeleted } from "../../storage/account-removal.ts"
import { databaseOf } from "../../storage/database.ts"
import { endCanceled } from "../jobs/cancel.ts"

/** Statements of D1 that this may take of the 1,000 of an invocation. */
const STATEMENTS_MAX = 600
/** About as many end a job, beside those for each of its tasks. */
const STATEMENTS_OF_JOB = 14
const JOBS_MAX = Math.floor(STATEMENTS_MAX / STATEMENTS_OF_JOB)

/**
 * Cancels some of the open jobs of an account, if it is deleted, so that their webhooks go out; the
 * ids of their tasks, which may still run. A job that cannot be ended holds up no other.
 */
export async function cancelJobsOfDeleted(env: Env, accountId: string): Promise<string[]> {
  const { sql: database } = databaseOf(env, accountId)
  const taskIds: string[] = []
  let statements = 0
  for (const { jobId, taskCount } of await listOpenJobsOfDeleted(database, accountId, JOBS_MAX)) {
    statements += STATEMENTS_OF_JOB + taskCount
    if (taskIds.length > 0 && statements > STATEMENTS_MAX) break
    await doOrLog("dispatcher.cancel_failed", { job_id: jobId }, async () => {
      taskIds.push(...(await endCanceled(env, accountId, jobId)))
    })
  }
  return taskIds
}
