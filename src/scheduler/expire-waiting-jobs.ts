import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { logError } from "../platform/log.ts"
import { isFinalState } from "../domain/states.ts"
import { openAccountDatabases } from "../db/database.ts"
import { findLastInputCompletedAt } from "../db/jobs/open-tasks.ts"
import type { JobTransition } from "../db/jobs/apply-transition.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"
import { transitionJob } from "../jobs/settle/settle.ts"
import type { TaskQueue } from "./queue.ts"
import { makeJobExpiredFailure } from "../jobs/settle/attempts.ts"
import { computeEndTransition } from "../jobs/settle/transitions.ts"

const JOBS_MAX = 100
/**
 * Wait before the next attempt to end a job after a failed attempt, in milliseconds. Other jobs
 * come first.
 */
const RETRY_MS = 30_000

/**
 * Fails jobs that have waited longer than `WAIT_SECONDS_MAX` without a running task. Returns the
 * ids of the ended jobs.
 */
export async function expireWaitingJobs(
  env: Env,
  queue: TaskQueue,
  accountId: string,
): Promise<string[]> {
  const waitMsMax = getSettings(env).WAIT_SECONDS_MAX * 1000
  const over: string[] = []
  for (const jobId of queue.jobsWaitingSince(Date.now() - waitMsMax, JOBS_MAX)) {
    try {
      const since = await expireJob(env, queue, { accountId, jobId, waitMsMax })
      if (since === null) over.push(jobId)
      else queue.saveWaitsSince(jobId, since)
    } catch (error) {
      logError("dispatcher.expiry_failed", { job_id: jobId, error: String(error) })
      queue.saveWaitsSince(jobId, Date.now() - waitMsMax + RETRY_MS)
    }
  }
  return over
}

/**
 * Fails one job if the job has waited too long for a runner. Returns null if the job is over.
 * Otherwise returns the time at which the job's wait for a runner began according to D1, or the
 * present time if the job still waits for another job.
 */
async function expireJob(
  env: Env,
  queue: TaskQueue,
  { accountId, jobId, waitMsMax }: { accountId: string; jobId: string; waitMsMax: number },
): Promise<number | null> {
  const arrivedAt = await findLastInputCompletedAt(openAccountDatabases(env, accountId), jobId)
  if (arrivedAt === null) return Date.now()
  function compute(read: JobSnapshot): JobTransition | null {
    const isTaken = queue.ofJob(jobId).some(({ state }) => state === "running")
    const wait = { now: Date.now(), waitMsMax, arrivedAt: arrivedAt ?? 0 }
    return isTaken ? null : computeExpiryTransition(read, wait)
  }
  const job = { accountId, jobId }
  const { applied, snapshot } = await transitionJob(env, job, compute, { needsValues: false })
  if (applied || !snapshot || isFinalState(snapshot.job.state)) return null
  return waitingSince(snapshot, arrivedAt)
}

/**
 * Returns the transition that fails an open job which has waited `waitMsMax` for a runner. Returns
 * null if the job is over or may wait longer. The wait begins at `arrivedAt` at the earliest: the
 * time at which the last input from another job was complete, or 0 without such an input.
 */
export function computeExpiryTransition(
  snapshot: JobSnapshot,
  { now, waitMsMax, arrivedAt }: { now: number; waitMsMax: number; arrivedAt: number },
): JobTransition | null {
  if (isFinalState(snapshot.job.state) || waitingSince(snapshot, arrivedAt) + waitMsMax > now)
    return null
  return computeEndTransition(snapshot, { state: "failed", failure: makeJobExpiredFailure(), now })
}

/**
 * Returns the time since which the job waits for a runner: its creation, the arrival of its last
 * input or, for a started job, the end of its last run.
 */
function waitingSince({ job, tasks }: JobSnapshot, arrivedAt: number): number {
  if (job.startedAt === null) return Math.max(job.createdAt, arrivedAt)
  const ends = tasks.flatMap(({ requeuedAt, completedAt }) => [requeuedAt ?? 0, completedAt ?? 0])
  return Math.max(job.startedAt, arrivedAt, ...ends)
}
