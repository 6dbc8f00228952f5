import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import { NO_ENDINGS } from "../../rpc.ts"
import type { JobChange, Progress, SeenJob } from "../../rpc.ts"
import { dispatcherOf } from "../../placement.ts"
import { isSameProgress } from "../dispatch/progress.ts"
import { databaseOf } from "../../storage/database.ts"
import type { AccountDatabase } from "../../storage/database.ts"
import { findFile } from "../../storage/files.ts"
import type { FileWithJob } from "../../storage/files.ts"
import { hydrateHead } from "../../storage/hydrate.ts"
import { findJob } from "../../storage/jobs.ts"
import type { Job } from "../../storage/schema/jobs.ts"
import { isFinal } from "../../storage/schema/states.ts"
import type { State } from "../../storage/schema/states.ts"

/** An answer of the dispatcher can be lost: after so long without one D1 is read again. */
const SILENCE_MS = 10_000
const AFTER_RESET_MS = 250
/** Endings that no dispatcher says: the next answer comes at once. */
const LOST = "lost"

export type JobId = { accountId: string; jobId: string }

/** A job that is waited for; `isNew` where whoever waits has just made it, so that D1 need not be read first. */
export type AwaitedJob = JobId & {
  isNew?: boolean
  /** Asked first; what it says of a job that is over counts. */
  replica?: AccountDatabase | null
}

/** The job at its end, or as it is once `timeoutMs` are over; null where the account has none. */
export async function awaitEnd(
  env: Env,
  { isNew = false, replica = null, ...id }: AwaitedJob,
  timeoutMs: number | null,
): Promise<Job | null> {
  const old = replica && (await findJob(replica, id.jobId))
  if (old && isFinal(old.state)) return await hydrateHead(env.MEDIA, old)
  async function read(): Promise<Job | null> {
    return await readJob(env, id)
  }
  return await awaitFinal(env, { id, isNew, read, stateOf: ({ state }) => state }, timeoutMs)
}

async function readJob(env: Env, { accountId, jobId }: JobId): Promise<Job | null> {
  const job = await findJob(databaseOf(env, accountId), jobId)
  return job && (await hydrateHead(env.MEDIA, job))
}

/**
 * A file at its end, which may be long before that of the job that it came with, or as it is once
 * `timeoutMs` are over; null where the account has none. One that `isNew` has the id of its job.
 */
export async function awaitFileEnd(
  env: Env,
  { accountId, fileId, isNew = false }: { accountId: string; fileId: string; isNew?: boolean },
  timeoutMs: number | null,
): Promise<FileWithJob | null> {
  async function read(): Promise<FileWithJob | null> {
    return await findFile(databaseOf(env, accountId), fileId)
  }
  function stateOf({ file }: FileWithJob): State {
    return file.state
  }
  if (isNew && timeoutMs) {
    const id = { accountId, jobId: fileId }
    return await awaitFinal(env, { id, isNew, read, stateOf }, timeoutMs)
  }
  const found = await read()
  if (!found || !timeoutMs || isFinal(found.file.state)) return found
  const id = { accountId, jobId: found.file.jobId }
  return await awaitFinal(env, { id, isNew: false, read, stateOf }, timeoutMs)
}

/** Reads what a job brings to its end until it is there, or the time is over. */
async function awaitFinal<Row>(
  env: Env,
  awaited: {
    id: JobId
    isNew: boolean
    read: () => Promise<Row | null>
    stateOf: (row: Row) => State
  },
  timeoutMs: number | null,
): Promise<Row | null> {
  const since = Date.now()
  let seen: SeenJob | null = awaited.isNew ? NO_ENDINGS : null
  for (;;) {
    const leftMs = leftOf(since, timeoutMs ?? 0)
    // An end between this answer and the read of D1 is not missed: the next answer tells of it.
    const change: JobChange | null = timeoutMs
      ? await nextChange(env, awaited.id, seen, leftMs)
      : null
    const row = await awaited.read()
    if (!row || isFinal(awaited.stateOf(row)) || leftOf(since, timeoutMs ?? 0) === 0) return row
    if (change) seen = { version: change.version, endings: change.endings }
  }
}

/** A job and how far it is; the same again where nothing happened for a while. */
export type JobState = { job: Job; progress: Progress | null }

/** The job as it is now and then at each change, up to its end, its deletion or `timeoutMs`. */
export async function* followJob(env: Env, id: JobId, timeoutMs: number): AsyncGenerator<JobState> {
  const since = Date.now()
  let seen: { version: string; progress: Progress | null } | null = null
  let job: Job | null = null
  for (;;) {
    const change: JobChange = await nextChange(env, id, seen, leftOf(since, timeoutMs))
    const { version, progress } = change
    const isFurther: boolean = seen?.version === version && !isSameProgress(seen.progress, progress)
    if (!isFurther) job = await readJob(env, id)
    if (!job) return
    yield { job, progress: isFinal(job.state) ? null : progress }
    if (isFinal(job.state) || leftOf(since, timeoutMs) === 0) return
    seen = { version, progress }
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
    const dispatcher = dispatcherOf(env, accountId)
    return await dispatcher.nextChange(jobId, seen, Math.min(timeoutMs, SILENCE_MS))
  } catch (error) {
    logError("wait.dispatcher_lost", { job_id: jobId, error: String(error) })
    await scheduler.wait(AFTER_RESET_MS)
    return { version: "", endings: LOST, progress: null }
  }
}

/**
 * How far an open job is, from the dispatcher that knows; null where it is over or not begun, or where
 * that one cannot be reached: the job itself is shown all the same.
 */
export async function progressOf(env: Env, job: Job): Promise<Progress | null> {
  return (await progressOfJobs(env, [job])).get(job.id) ?? null
}

/** The same of jobs of one account, by their ids; one call for all of them. */
export async function progressOfJobs(
  env: Env,
  jobs: readonly Job[],
): Promise<ReadonlyMap<string, Progress>> {
  const open = jobs.filter(({ state }) => !isFinal(state))
  const [first] = open
  if (!first) return new Map()
  try {
    const dispatcher = dispatcherOf(env, first.accountId)
    return await dispatcher.progressOfJobs(open.map(({ id }) => id))
  } catch (error) {
    logError("progress.dispatcher_lost", { job_id: first.id, error: String(error) })
    return new Map()
  }
}
