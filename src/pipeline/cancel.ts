import type { Failure } from "../contract/failure.ts"
import type { Env } from "../env.ts"
import { logError } from "../log.ts"
import type { Job } from "../storage/schema.ts"
import { endJob } from "./settle.ts"

const TRIES = 3
const RETRY_MS = 200

/** Ends an open job at its caller's wish and kills what runs of it; false where it was over. */
export async function cancelJob(env: Env, job: Pick<Job, "id" | "accountId">): Promise<boolean> {
  const taskIds = await endJob(env, job.id, { state: "canceled", failure: canceled() })
  if (taskIds.length === 0) return false
  await stopTasks(env, job.accountId, taskIds)
  return true
}

/** D1 has spoken: a dispatcher that cannot be told now finds out itself, only later. */
async function stopTasks(env: Env, accountId: string, taskIds: string[]): Promise<void> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    try {
      return await env.DISPATCHER.getByName(accountId).ended(accountId, taskIds, true)
    } catch (error) {
      logError("cancel.dispatcher_lost", { tries, error: String(error) })
      await scheduler.wait(RETRY_MS)
    }
  }
}

function canceled(): Failure {
  return { code: "canceled", message: "The job was canceled.", lines: [] }
}
