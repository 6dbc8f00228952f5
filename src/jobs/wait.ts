import type { Env } from "../bindings/env.ts"
import { logError } from "../platform/log.ts"
import { NEW_JOB_VERSION } from "../bindings/rpc.ts"
import type { WatchedJobState, JobVersionSeenByCaller } from "../bindings/rpc.ts"
import type { Progress } from "../domain/progress.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import { isSameProgress } from "../scheduler/progress.ts"
import { openAccountDatabases } from "../db/database.ts"
import type { AccountDatabase } from "../db/database.ts"
import { findFile } from "../db/files/files.ts"
import type { FileWithJob } from "../domain/snapshot.ts"
import { hydrateListedResult } from "../db/values/hydrate.ts"
import { findJob } from "../db/jobs/jobs.ts"
import type { Job } from "../db/schema/jobs.ts"
import { isFinalState } from "../domain/states.ts"
import type { State } from "../domain/states.ts"

/**
 * Maximum wait for a response of the dispatcher, in milliseconds. The waiting caller then reads D1,
 * because the response may be lost.
 */
const SILENCE_MS = 10_000
const AFTER_RESET_MS = 250
/**
 * Value of `endings`, the version that changes with each end of a job or task, after a lost
 * response. No dispatcher sends this value, so that the next call of `nextChange` returns at once.
 */
const LOST = "lost"

/** Ids that identify a job: the id of its account and its own id. */
export type JobAndAccountIds = { accountId: string; jobId: string }

/**
 * Job whose end a caller awaits. `isNew` means that the caller has just created the job, so that
 * the wait begins without a read of D1.
 */
export type AwaitedJob = JobAndAccountIds & {
  isNew?: boolean
  /**
   * Read replica that is tried before the primary database. A row from the replica is used only if
   * the job in it is finished.
   */
  replica?: AccountDatabase | null
}

/**
 * Waits until a job ends. Returns the finished job, or the job's present state after `timeoutMs`.
 * Returns null if the account has no such job.
 */
export async function awaitJobEnd(
  env: Env,
  { isNew = false, replica = null, ...id }: AwaitedJob,
  timeoutMs: number | null,
): Promise<Job | null> {
  const old = replica && (await findJob(replica, id.jobId))
  if (old && isFinalState(old.state)) return await hydrateListedResult(env.MEDIA, old)
  async function read(): Promise<Job | null> {
    return await readJob(env, id)
  }
  return await awaitFinal(env, { id, isNew, read, stateOf: ({ state }) => state }, timeoutMs)
}

async function readJob(env: Env, { accountId, jobId }: JobAndAccountIds): Promise<Job | null> {
  const job = await findJob(openAccountDatabases(env, accountId), jobId)
  return job && (await hydrateListedResult(env.MEDIA, job))
}

/**
 * Waits until a file is complete or has failed, which may precede the end of its job. Returns the
 * file, or the file's present state after `timeoutMs`. Returns null if the account has no such
 * file. With `isNew`, a job with the file's own id was just created to write the file.
 */
export async function awaitFinalFileState(
  env: Env,
  { accountId, fileId, isNew = false }: { accountId: string; fileId: string; isNew?: boolean },
  timeoutMs: number | null,
): Promise<FileWithJob | null> {
  async function read(): Promise<FileWithJob | null> {
    return await findFile(openAccountDatabases(env, accountId), fileId)
  }
  function stateOf({ file }: FileWithJob): State {
    return file.state
  }
  if (isNew && timeoutMs) {
    const id = { accountId, jobId: fileId }
    return await awaitFinal(env, { id, isNew, read, stateOf }, timeoutMs)
  }
  const state = await read()
  if (!state || !timeoutMs || isFinalState(state.file.state)) return state
  const id = { accountId, jobId: state.file.jobId }
  return await awaitFinal(env, { id, isNew: false, read, stateOf }, timeoutMs)
}

/**
 * Reads the row of a job or file again after each change of the job, until the row's state is final
 * or the timeout ends.
 */
async function awaitFinal<Row>(
  env: Env,
  awaited: {
    id: JobAndAccountIds
    isNew: boolean
    read: () => Promise<Row | null>
    stateOf: (row: Row) => State
  },
  timeoutMs: number | null,
): Promise<Row | null> {
  const since = Date.now()
  let lastSeen: JobVersionSeenByCaller | null = awaited.isNew ? NEW_JOB_VERSION : null
  for (;;) {
    const leftMs = msLeft(since, timeoutMs ?? 0)
    // Gets the job's version before the row is read. If the job ends between the two, the next call
    // of `nextChange` finds another version and returns at once.
    const change: WatchedJobState | null = timeoutMs
      ? await nextChange(env, awaited.id, lastSeen, leftMs)
      : null
    const row = await awaited.read()
    if (!row || isFinalState(awaited.stateOf(row)) || msLeft(since, timeoutMs ?? 0) === 0)
      return row
    if (change) lastSeen = { version: change.version, endings: change.endings }
  }
}

/** Job with its present progress; null for an unknown progress. */
export type JobWithProgress = { job: Job; progress: Progress | null }

/**
 * Yields a job at once and after each change, until the job ends, is deleted, or `timeoutMs` has
 * passed. Without a change for a while, yields the unchanged job again.
 */
export async function* followJob(
  env: Env,
  id: JobAndAccountIds,
  timeoutMs: number,
): AsyncGenerator<JobWithProgress> {
  const since = Date.now()
  let lastSeen: { version: string; progress: Progress | null } | null = null
  let job: Job | null = null
  for (;;) {
    const change: WatchedJobState = await nextChange(env, id, lastSeen, msLeft(since, timeoutMs))
    const { version, progress } = change
    const isFurther: boolean =
      lastSeen?.version === version && !isSameProgress(lastSeen.progress, progress)
    if (!isFurther) job = await readJob(env, id)
    if (!job) return
    yield { job, progress: isFinalState(job.state) ? null : progress }
    if (isFinalState(job.state) || msLeft(since, timeoutMs) === 0) return
    lastSeen = { version, progress }
  }
}

/** Returns the remaining time of a timeout, in milliseconds. */
function msLeft(since: number, timeoutMs: number): number {
  return Math.max(0, since + timeoutMs - Date.now())
}

async function nextChange(
  env: Env,
  { accountId, jobId }: JobAndAccountIds,
  lastSeen: JobVersionSeenByCaller | null,
  timeoutMs: number,
): Promise<WatchedJobState> {
  const change = await requestChangeFromDispatcher(
    { job_id: jobId },
    timeoutMs,
    async (askedMs) => {
      return await getDispatcher(env, accountId).nextChange(jobId, lastSeen, askedMs)
    },
  )
  return change ?? { version: "", endings: LOST, progress: null }
}

/**
 * Calls `ask`, which waits for the next change of a job or file at the account's dispatcher, for at
 * most `timeoutMs` and at most SILENCE_MS. If the dispatcher cannot be reached, logs the error with
 * `ids`, waits for a moment and returns null.
 */
export async function requestChangeFromDispatcher<Change>(
  ids: Record<string, string>,
  timeoutMs: number,
  ask: (askedMs: number) => Promise<Change>,
): Promise<Change | null> {
  try {
    return await ask(Math.min(timeoutMs, SILENCE_MS))
  } catch (error) {
    logError("wait.dispatcher_lost", { ...ids, error: String(error) })
    await scheduler.wait(AFTER_RESET_MS)
    return null
  }
}

/**
 * Returns the progress of an open job from its dispatcher. Returns null if the job is over or has
 * not started, or if the dispatcher cannot be reached.
 */
export async function readProgress(env: Env, job: Job): Promise<Progress | null> {
  return (await readProgressOfJobs(env, [job])).get(job.id) ?? null
}

/**
 * Returns the progress of several jobs of one account by job id, with one call to the dispatcher.
 */
export async function readProgressOfJobs(
  env: Env,
  jobs: readonly Job[],
): Promise<ReadonlyMap<string, Progress>> {
  const open = jobs.filter(({ state }) => !isFinalState(state))
  const [first] = open
  if (!first) return new Map()
  try {
    const dispatcher = getDispatcher(env, first.accountId)
    return await dispatcher.progressOfJobs(open.map(({ id }) => id))
  } catch (error) {
    logError("progress.dispatcher_lost", { job_id: first.id, error: String(error) })
    return new Map()
  }
}
