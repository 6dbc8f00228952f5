import type { Failure } from "../contract/failure.ts"
import type { Env } from "../bindings/env.ts"
import { runOrLogError, logError } from "../platform/log.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import { listOpenJobsOfDeletedAccount } from "../db/accounts/account-removal.ts"
import { openAccountDatabases } from "../db/database.ts"
import { endOpenJob } from "./settle/settle.ts"

const TRIES = 3
const RETRY_MS = 200

/**
 * Maximum number of D1 statements for the cancellation of jobs. An invocation of a Worker may run
 * 1,000.
 */
const STATEMENTS_MAX = 600
/**
 * Estimated number of D1 statements that end a job. Each task of the job takes a further statement.
 */
const STATEMENTS_OF_JOB = 14
const JOBS_MAX = Math.floor(STATEMENTS_MAX / STATEMENTS_OF_JOB)

/**
 * Cancels an open job at the request of its caller, and kills the job's runs. Returns false if the
 * job was already over.
 */
export async function cancelJob(env: Env, accountId: string, jobId: string): Promise<boolean> {
  const taskIds = await endJobAsCanceled(env, accountId, jobId)
  await killTasks(env, accountId, taskIds)
  return taskIds.length > 0
}

/**
 * Cancels some open jobs of a deleted account, so that the jobs' webhooks are sent. Returns the ids
 * of the canceled jobs' tasks, which may still run. If a job cannot be canceled, continues with the
 * other jobs.
 */
export async function cancelJobsOfDeletedAccount(env: Env, accountId: string): Promise<string[]> {
  const { sql: database } = openAccountDatabases(env, accountId)
  const taskIds: string[] = []
  let statements = 0
  for (const { jobId, taskCount } of await listOpenJobsOfDeletedAccount(
    database,
    accountId,
    JOBS_MAX,
  )) {
    statements += STATEMENTS_OF_JOB + taskCount
    if (taskIds.length > 0 && statements > STATEMENTS_MAX) break
    await runOrLogError("dispatcher.cancel_failed", { job_id: jobId }, async () => {
      taskIds.push(...(await endJobAsCanceled(env, accountId, jobId)))
    })
  }
  return taskIds
}

/**
 * Sets an open job to canceled. Returns the ids of the job's tasks, which may still run. Returns an
 * empty list if the job was already over.
 */
export async function endJobAsCanceled(
  env: Env,
  accountId: string,
  jobId: string,
): Promise<string[]> {
  return await endOpenJob(env, { accountId, jobId }, { state: "canceled", failure: canceled() })
}

/**
 * Makes the dispatcher kill the runs of tasks that have ended in D1, and reconcile the jobs that
 * wait for files of these tasks. If the dispatcher stays unreachable, its next reconciliation does
 * the same.
 */
export async function killTasks(env: Env, accountId: string, taskIds: string[]): Promise<void> {
  if (taskIds.length === 0) return
  for (let tries = 1; tries <= TRIES; tries += 1) {
    try {
      return await getDispatcher(env, accountId).tasksEnded(accountId, taskIds, true)
    } catch (error) {
      logError("cancel.dispatcher_lost", { tries, error: String(error) })
      await scheduler.wait(RETRY_MS)
    }
  }
}

function canceled(): Failure {
  return { code: "canceled", message: "The job was canceled.", lines: [] }
}
