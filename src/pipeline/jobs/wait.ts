import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import type { JobChange, Progress, SeenJob } from "../../rpc.ts"
import { databaseOf } from "../../storage/database.ts"
import { findJob } from "../../storage/jobs.ts"
import type { Job } from "../../storage/schema/jobs.ts"
import { isFinal } from "../../storage/schema/states.ts"

/** An answer of the dispatcher can be lost: after so long without one D1 is read again. */
const SILENCE_MS = 10_000
const AFTER_RESET_MS = 250

export type JobId = { accountId: string; jobId: string }

/** The job at its end, or as it is once `timeoutMs` are over; null where the account has none. */
export async function awaitEnd(env: Env, id: JobId, timeoutMs: number | null): Promise<Job | null> {
  const since = Date.now()
  let seen: SeenJob | null = null
  for (;;) {
    const leftMs = leftOf(since, timeoutMs ?? 0)
    // A change between this answer and the read of D1 is not missed: the next answer tells of it.
    const change: JobChange | null = timeoutMs ? await nextChange(env, id, seen, leftMs) : null
    const job = await findJob(databaseOf(env, id.accountId), id.jobId)
    if (!job || isFinal(job.state) || leftOf(since, timeoutMs ?? 0) === 0) return job
    if (change) seen = { version: change.version }
  }
}

/** A job and how far it is; the same again where nothing happened for a while. */
export type JobState = { job: Job; progress: Progress | null }

/** The job as it is now and then at each change, up to its end, its deletion or `timeoutMs`. */
export async function* followJob(env: Env, id: JobId, timeoutMs: number): AsyncGenerator<JobState> {
  const since = Date.now()
  let seen: Required<SeenJob> | null = null
  let job: Job | null = null
  for (;;) {
    const change: JobChange = await nextChange(env, id, seen, leftOf(since, timeoutMs))
    const percent: number = change.progress?.percent ?? 0
    const isFurther: boolean = seen?.version === change.version && seen.percent !== percent
    if (!isFurther) job = await findJob(databaseOf(env, id.accountId), id.jobId)
    if (!job) return
    yield { job, progress: isFinal(job.state) ? null : change.progress }
    if (isFinal(job.state) || leftOf(since, timeoutMs) === 0) return
    seen = { version: change.version, percent }
  }
}

/** What is left of a time that began; none where the clock was set meanwhile. */
function leftOf(since: number, timeoutMs: number): number {
  const spentMs = Date.now() - since
  return spentMs < 0 ? 0 : Math.max(0, timeoutMs - spentMs)
}

async function nextChange(
  env: Env,
  { accountId, jobId }: JobId,
  seen: SeenJob | null,
  timeoutMs: number,
): Promise<JobChange> {
  try {
    const dispatcher = env.DISPATCHER.getByName(accountId)
    return await dispatcher.nextChange(jobId, seen, Math.min(timeoutMs, SILENCE_MS))
  } catch (error) {
    logError("wait.dispatcher_lost", { job_id: jobId, error: String(error) })
    await scheduler.wait(AFTER_RESET_MS)
    return { version: "", progress: null }
  }
}

/**
 * How far an open job is, from the dispatcher that knows; null where it is over or not begun, or where
 * that one cannot be reached: the job itself is shown all the same.
 */
export async function progressOf(env: Env, job: Job): Promise<Progress | null> {
  if (isFinal(job.state)) return null
  try {
    return await env.DISPATCHER.getByName(job.accountId).progressOf(job.id)
  } catch (error) {
    logError("progress.dispatcher_lost", { job_id: job.id, error: String(error) })
    return null
  }
}
