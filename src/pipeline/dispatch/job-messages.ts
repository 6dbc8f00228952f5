import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import type { TaskMessage } from "../../rpc.ts"
import { dispatcherOf } from "../../placement.ts"

/** What a JOBS message says; D1 has the rest. */
export type JobMessage = { accountId: string; tasks: TaskMessage[] }

/**
 * Queues the tasks of a job that was just made with its dispatcher. Where that one cannot be reached
 * now, a JOBS message does it, which is tried again. A lost call or message costs time only: the sweep
 * finds the job.
 */
export async function queueJob(env: Env, message: JobMessage): Promise<void> {
  const { accountId, tasks } = message
  try {
    await dispatcherOf(env, accountId).accept(accountId, tasks)
  } catch (error) {
    logError("dispatcher.accept_failed", { account_id: accountId, error: String(error) })
    await env.JOBS.send(message)
  }
}
