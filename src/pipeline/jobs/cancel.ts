import type { Failure } from "../../contract/failure.ts"
import type { Env } from "../../env.ts"
import { doOrLog, logError } from "../../log.ts"
import { dispatcherOf } from "../../placement.ts"
import { listOpenJobsOfDeleted } from "../../storage/account-removal.ts"
import { databaseOf } from "../../storage/database.ts"
import { endJob } from "../settle/settle.ts"

const TRIES = 3
const RETRY_MS = 200

/** Statements of D1 that ends of jobs may take of the 1,000 of an invocation. */
const STATEMENTS_MAX = 600
/** About as many end a job, beside those for each of its tasks. */
const STATEMENTS_OF_JOB = 14
const JOBS_MAX = Math.floor(STATEMENTS_MAX / STATEMENTS_OF_JOB)

/** Ends an open job at its caller's wish and kills what runs of it; false where it was over. */
export async function cancelJob(env: Env, accountId: string, jobId: string): Promise<boolean> {
  const taskIds = await endCanceled(env, accountId, jobId)
  await killTasks(env, accountId, taskIds)
  return taskIds.length > 0
}

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

/** Ends an open job as canceled; the ids of its tasks, which may still run, none if it was over. */
export async function endCanceled(env: Env, accountId: string, jobId: string): Promise<string[]> {
  return await endJob(env, { accountId, jobId }, { state: "canceled", failure: canceled() })
}

/**
 * Kills tasks that D1 says are over, and has the jobs judged that wait for their files; a dispatcher
 * that cannot be reached now finds out later.
 */
export async function killTasks(env: Env, accountId: string, taskIds: string[]): Promise<void> {
  if (taskIds.length === 0) return
  for (let tries = 1; tries <= TRIES; tries += 1) {
    try {
      return await dispatcherOf(env, accountId).tasksEnded(accountId, taskIds, true)
    } catch (error) {
      logError("cancel.dispatcher_lost", { tries, error: String(error) })
      await scheduler.wait(RETRY_MS)
    }
  }
}

function canceled(): Failure {
  return { code: "canceled", message: "The job was canceled.", lines: [] }
}
