import type { Failure } from "../../contract/failure.ts"
import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import { dispatcherOf } from "../../placement.ts"
import { endJob } from "../settle/settle.ts"

const TRIES = 3
const RETRY_MS = 200

/** Ends an open job at its caller's wish and kills what runs of it; false where it was over. */
export async function cancelJob(env: Env, accountId: string, jobId: string): Promise<boolean> {
  const taskIds = await endCanceled(env, accountId, jobId)
  await killTasks(env, accountId, taskIds)
  return taskIds.length > 0
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
