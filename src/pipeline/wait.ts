import { isFinal } from "../contract/state.ts"
import type { Env } from "../env.ts"
import { logError } from "../log.ts"
import { openDatabase } from "../storage/database.ts"
import { findJob } from "../storage/jobs.ts"
import type { Job } from "../storage/schema.ts"
import type { Change, Progress, Seen } from "./watchers.ts"

/** A word of the dispatcher can be lost: after such a silence D1 is looked at again. */
const SILENCE_MS = 10_000
const AFTER_RESET_MS = 250

export type JobPlace = { accountId: string; jobId: string }

/** The job at its end, or as it is once `timeoutMs` are over; null where the account has none. */
export async function awaitEnd(
  env: Env,
  place: JobPlace,
  timeoutMs: number | null,
): Promise<Job | null> {
  const until = Date.now() + (timeoutMs ?? 0)
  let seen: Seen | null = null
  for (;;) {
    const leftMs = until - Date.now()
    // What comes after this word and before the look at D1 is not missed: the next word tells.
    const change: Change | null = timeoutMs ? await nextChange(env, place, seen, leftMs) : null
    const job = await findJob(openDatabase(env.DB), place.accountId, place.jobId)
    if (!job || isFinal(job.state) || Date.now() >= until) return job
    if (change) seen = { moves: change.moves }
  }
}

/** A job and how far it is; the same again where nothing happened for a while. */
export type Step = { job: Job; progress: Progress | null }

/** The job as it is now and then at each change, up to its end, a moment or its deletion. */
export async function* followJob(env: Env, place: JobPlace, until: number): AsyncGenerator<Step> {
  let seen: Required<Seen> | null = null
  let job: Job | null = null
  for (;;) {
    const change: Change = await nextChange(env, place, seen, until - Date.now())
    const percent: number = change.progress?.percent ?? 0
    const isFurther: boolean = seen?.moves === change.moves && seen.percent !== percent
    if (!isFurther) job = await findJob(openDatabase(env.DB), place.accountId, place.jobId)
    if (!job) return
    yield { job, progress: isFinal(job.state) ? null : change.progress }
    if (isFinal(job.state) || Date.now() >= until) return
    seen = { moves: change.moves, percent }
  }
}

async function nextChange(
  env: Env,
  { accountId, jobId }: JobPlace,
  seen: Seen | null,
  timeoutMs: number,
): Promise<Change> {
  try {
    const dispatcher = env.DISPATCHER.getByName(accountId)
    return await dispatcher.nextChange(jobId, seen, Math.min(timeoutMs, SILENCE_MS))
  } catch (error) {
    logError("wait.dispatcher_lost", { job_id: jobId, error: String(error) })
    await scheduler.wait(AFTER_RESET_MS)
    return { moves: "", progress: null }
  }
}
