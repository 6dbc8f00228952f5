import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import { isFinal } from "../../storage/schema/states.ts"
import type { JobSnapshot, Transition } from "../../storage/transitions.ts"
import { expiryTransition, waitingSince } from "../settle/expiry.ts"
import { transitionJob } from "../settle/settle.ts"
import type { TaskQueue } from "./queue.ts"

const JOBS_MAX = 100
/** A job whose end could not be written is tried again after those that wait behind it. */
const RETRY_MS = 30_000

/**
 * Ends jobs that no runner took a task of for too long, and of which none has one now. Answers the
 * ids of queued tasks whose jobs are over.
 */
export async function expireJobs(env: Env, queue: TaskQueue, accountId: string): Promise<string[]> {
  const waitMsMax = settingsOf(env).WAIT_SECONDS_MAX * 1000
  const over: string[] = []
  for (const jobId of queue.jobsWaitingSince(Date.now() - waitMsMax, JOBS_MAX)) {
    try {
      const since = await expireJob(env, queue, { accountId, jobId, waitMsMax })
      if (since === null) over.push(...queue.ofJob(jobId).map(({ id }) => id))
      else queue.saveWaitsSince(jobId, since)
    } catch (error) {
      logError("dispatcher.expiry_failed", { job_id: jobId, error: String(error) })
      queue.saveWaitsSince(jobId, Date.now() - waitMsMax + RETRY_MS)
    }
  }
  return over
}

/** Null where the job is over; since when it waits otherwise, by what D1 says. */
async function expireJob(
  env: Env,
  queue: TaskQueue,
  { accountId, jobId, waitMsMax }: { accountId: string; jobId: string; waitMsMax: number },
): Promise<number | null> {
  function compute(read: JobSnapshot): Transition | null {
    const isTaken = queue.ofJob(jobId).some(({ state }) => state === "running")
    return isTaken ? null : expiryTransition(read, { now: Date.now(), waitMsMax })
  }
  const job = { accountId, jobId }
  const { applied, snapshot } = await transitionJob(env, job, compute, { needsValues: false })
  if (applied || !snapshot || isFinal(snapshot.job.state)) return null
  return waitingSince(snapshot)
}
