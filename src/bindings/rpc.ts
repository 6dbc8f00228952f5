import type { DegradedReason } from "../contract/runner-health.ts"
import type { Progress } from "../domain/progress.ts"
import type { TaskOrder } from "../contract/task.ts"
import type { AssignedPlan } from "../domain/plans.ts"
import type { Scope } from "../domain/scopes.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"

// RPC interfaces of the Durable Objects. Callers import these types instead of the classes, so that
// imports form no cycle.

type DurableObject = Rpc.DurableObjectBranded

/**
 * Task of a new job, with all fields that the dispatcher (the Durable Object of an account's queue)
 * needs to queue the task without a read of D1.
 */
export type TaskMessage = {
  id: string
  jobId: string
  /** Name of the pool whose runners run the task. */
  pool: string
  priority: number
  /** Whether the task waits for an input that is not stored yet. */
  blocked: boolean
  /**
   * Weight of the task in the progress of its job. `jobWeight` is the sum of the weights of all
   * tasks of the job.
   */
  weight: number
  jobWeight: number
  createdAt: number
}

/**
 * Heartbeat of the run of a task. `fence` is the fencing token of the dispatch that started the
 * run. `boot` is the id of the runner's process, which is new at each start of the process.
 */
export type Heartbeat = {
  taskId: string
  fence: number
  boot: string
  progress?: Progress | undefined
}

/**
 * Runner processes whose runs are lost: all processes but the new one with the id `boot`, or only
 * the process with the id `stopped`, whose container has stopped.
 */
export type LostRunnerProcess = { boot: string } | { stopped: string }

/**
 * State of a job that a caller of `nextChange` last saw. The call returns when the job's state
 * differs from this state. Progress is compared only if `progress` is set. With `endings`, the call
 * returns only when the job may have ended.
 */
export type JobVersionSeenByCaller = {
  version: string
  progress?: Progress | null
  endings?: string
}

/** State to pass to `nextChange` for a new job, none of whose tasks can have ended. */
export const NEW_JOB_VERSION: JobVersionSeenByCaller = { version: "", endings: "" }

/**
 * State of a job that the dispatcher reports to waiting callers. `version` changes whenever the job
 * may have changed in D1; `endings` changes whenever the job or one of its tasks may have ended.
 */
export type WatchedJobState = { version: string; endings: string; progress: Progress | null }

/** Version and progress of several jobs that the dispatcher reports to waiting callers. */
export type WatchedJobStates = {
  version: string
  endings: string
  /** Progress of the jobs by id. Jobs without a running task are absent. */
  progress: Map<string, Progress>
}

/** Version and progress of several jobs that a waiting caller last saw. */
export type JobVersionsSeenByCaller = { version: string; percent?: number; endings?: string }

export type DispatcherRpc = DurableObject & {
  /** Queues the tasks of a new job. Repeated calls have no further effect. */
  accept(accountId: string, tasks: TaskMessage[]): Promise<void>
  /**
   * Renews the lease of a run, which expires without heartbeats. Returns false if another run of
   * the task has replaced this run; the runner then kills this run.
   */
  renewLease(accountId: string, jobId: string, heartbeat: Heartbeat): Promise<boolean>
  /**
   * Removes tasks that have ended from the queue. With `killed`, the dispatcher kills the runs of
   * these tasks. `over` means that the caller has seen in D1 that all these tasks have ended, so
   * that the dispatcher need not read D1.
   */
  tasksEnded(accountId: string, ids: string[], killed?: boolean, over?: boolean): Promise<void>
  /**
   * Returns the job as the dispatcher read it from D1 to start the task, and removes this snapshot
   * from memory. Returns null if the dispatcher does not hold the snapshot. D1 may have a newer
   * version.
   */
  claimedJob(taskId: string): Promise<JobSnapshot | null>
  /** Returns the progress of jobs by id. Jobs without a running task are absent. */
  progressOfJobs(jobIds: string[]): Promise<Map<string, Progress>>
  /** Resolves when the job's version or progress differs from `seen`, or at the timeout. */
  nextChange(
    jobId: string,
    seen: JobVersionSeenByCaller | null,
    timeoutMs: number,
  ): Promise<WatchedJobState>
  /**
   * Resolves when the version or progress of one of the jobs differs from `seen`, or at the
   * timeout.
   */
  nextChangeOfJobs(
    jobIds: string[],
    seen: JobVersionsSeenByCaller | null,
    timeoutMs: number,
  ): Promise<WatchedJobStates>
  /** Reports deleted files, because tasks that wait for such a file can never start. */
  filesGone(accountId: string, fileIds: string[]): Promise<void>
  /**
   * Compares a part of the queue with D1, the next part with each call, and adds open tasks that
   * are missing. For a deleted account, also cancels some of its jobs.
   */
  tick(accountId: string): Promise<void>
  /** Requeues the tasks whose runs are lost because their runner process has ended. */
  runsLost(accountId: string, lost: LostRunnerProcess): Promise<void>
  /**
   * Makes the dispatcher send its slot requests again. Called when the pool has a free slot for the
   * account, or has received no request of the account for a long time.
   */
  wake(accountId: string, pool?: string): Promise<void>
  /** Makes the dispatcher read the account's limits again after a change of the plan. */
  planChanged(accountId: string): Promise<void>
  /**
   * Interrupts and requeues the task that occupies a slot, so that another account gets the slot.
   * Returns false if the run continues, because each task is interrupted at most once.
   */
  handOver(accountId: string, allocation: Pick<SlotAllocation, "id" | "slot">): Promise<boolean>
}

/** Slot that is allocated to one task of an account. */
export type SlotAllocation = { id: number; slot: string; accountId: string }

/** Request of an account's dispatcher for slots of a pool. */
export type SlotRequest = {
  accountId: string
  /**
   * Number of the request, which rises with each request of the account. The pool ignores a request
   * with a lower number than the last, because that request arrived late.
   */
  number: number
  /** Number of additional tasks that the account could start now. */
  wanted: number
  /**
   * Largest share of the pool's slots, from 0 to 1, that the account may occupy while other
   * accounts wait; 1 by default.
   */
  slotsShareMax?: number
  /** Ids of the allocations (slots given to the account) whose tasks run. */
  inUse: number[]
  /** Ids of the allocations whose tasks are over, so that the slots can be given away. */
  released: number[]
  /**
   * Whether `inUse` lists all allocations of the account. The pool then first frees all allocations
   * that are not listed.
   */
  isResync?: boolean
}

/**
 * Reason why a slot's container is degraded: the container did not start, its sandbox failed, or
 * the requested version of yt-dlp could not be installed.
 */
export type SlotDegradedReason = Extract<
  DegradedReason,
  "container_not_started" | "sandbox_failed" | "ytdlp_update_failed"
>

/**
 * Report about a slot's container. With `isThere`, the container is now degraded for the reason
 * `problem`; otherwise this reason no longer applies.
 */
export type SlotDegradedReport = { slot: string; problem: SlotDegradedReason; isThere: boolean }

export type PoolRpc = DurableObject & {
  /**
   * Requests slots for an account. Returns all slots that are allocated to the account, or null if
   * the pool has already received a request with a higher number.
   */
  requestSlots(
    pool: string,
    request: SlotRequest,
  ): Promise<Pick<SlotAllocation, "id" | "slot">[] | null>
  /**
   * Informs the dispatchers whose tasks occupy slots about a new runner process, so that they
   * requeue the tasks that the old process ran.
   */
  runnerStarted(boot: string): Promise<void>
  /**
   * Informs the dispatcher whose task occupies a slot that the slot's container has stopped. The
   * dispatcher then requeues the container's tasks.
   */
  slotStopped(stopped: { slot: string; boot: string }): Promise<void>
  /**
   * Marks a slot whose runner sent no heartbeat for its present task. The slot's container is
   * stopped before the slot is allocated again.
   */
  slotDistrusted(run: { slot: string; allocation: number }): Promise<void>
  /** Stores that a slot's container is degraded for a reason, or that the reason is over. */
  problemJudged(judged: SlotDegradedReport): Promise<void>
  /** Returns the number of slots, of allocated slots, and of accounts that wait for a slot. */
  usage(pool: string): Promise<{ slots: number; used: number; waitingAccounts: number }>
  /**
   * Returns the slots whose containers may be running: slots that were allocated, and whose
   * containers have not been stopped since.
   */
  occupiedSlots(): Promise<string[]>
  /**
   * Returns the reasons why slots of the pool do not work, or work only in part. Returns an empty
   * list if all slots work.
   */
  degradedReasons(): Promise<DegradedReason[]>
  /**
   * Runs the sweep of a database, which removes expired rows and finds lost work. Only objects that
   * `getSweeper` returns, which have no slots, get this call.
   */
  sweepDatabase(swept: DatabaseSweep): Promise<void>
}

/**
 * Sweep of a database: the database's number and the time of the sweep. `isStart` marks the first
 * sweep after the start of a service on one machine.
 */
export type DatabaseSweep = { database: number; now: number; isStart: boolean }

/** Account of a caller with its plan, as the rate limiter caches them. */
export type CallerAccount = AssignedPlan & { id: string; isSuspended: boolean }

/**
 * API key of a caller, as the rate limiter caches the key. `expiresAt` is null for a key that never
 * expires.
 */
export type CallerKey = { id: string; scopes: Scope[]; expiresAt: number | null }

/** Caller of a request. `key` is null for a user of the dashboard. */
export type Caller = { account: CallerAccount; key: CallerKey | null }

/**
 * Result of the rate limit for one request: whether the request is allowed, and the remaining
 * requests of this window.
 */
export type RateLimitResult = {
  caller: Caller
  limit: number
  allowed: boolean
  remaining: number
  resetSeconds: number
  /**
   * Whether the caller may have written to the database in the last seconds. If so, the caller's
   * reads must not use a replica, which may lag.
   */
  hasChanged: boolean
}

/**
 * Request to a rate limiter. `changes` means that the counted request may write to the database.
 * `wanted` is the number of further requests that the limiter should grant in advance. `unused` are
 * requests of an earlier grant that the caller returns.
 */
export type RateLimitRequest = {
  changes: boolean
  wanted: number
  unused: UnusedPrefetchedRequests | null
}

/** Requests that a rate limiter granted in advance at `grantedAt` and that were not used. */
export type UnusedPrefetchedRequests = { count: number; grantedAt: number }

/**
 * Result of the rate limit for one request, with further requests that the limiter grants in
 * advance. Those requests need no call of the rate limiter.
 */
export type PrefetchGrant = RateLimitResult & {
  /**
   * Number of requests that are granted in advance, already subtracted from `remaining`, and their
   * validity in milliseconds.
   */
  more: number
  moreMs: number
  /** Time of the grant, and end of the window, in milliseconds since the epoch. */
  grantedAt: number
  windowEndsAt: number
}

/** Rate limiter of one API key, named by the key's hash, or of one user, named by the user's id. */
export type RateLimiterRpc = DurableObject & {
  /**
   * Counts one request of a key, and grants up to `wanted` further requests in advance while many
   * remain. Returns null if no valid key has the hash.
   */
  take(keyHash: string, taking?: RateLimitRequest): Promise<PrefetchGrant | null>
  /** Gives the unused requests of an earlier grant back to the rate limiter. */
  giveBack(unused: UnusedPrefetchedRequests): Promise<void>
  /** Counts one request of a user with a valid session. */
  takeFor(caller: Caller, taking?: Pick<RateLimitRequest, "changes">): Promise<RateLimitResult>
  /**
   * Informs the rate limiter that a request granted in advance may write to the database, so that
   * the caller's next reads avoid replicas.
   */
  noteChange(): Promise<void>
  /**
   * Begins an upload. Returns false if the caller has reached the maximum number of concurrent
   * uploads.
   */
  beginUpload(uploadId: string): Promise<boolean>
  /**
   * Renews the lease of an open upload. An upload without renewals counts as ended after a timeout.
   */
  renewUpload(uploadId: string): Promise<void>
  endUpload(uploadId: string): Promise<void>
  /**
   * Reports whether the key is valid and its account is not suspended. The call does not count as a
   * request.
   */
  isValid(keyHash: string): Promise<boolean>
  /**
   * Drops the API key that the rate limiter caches, so that the next request reads the key from the
   * database.
   */
  forget(): Promise<void>
  /**
   * Waits for a change of the API key that the rate limiter caches, for at most `timeoutMs`.
   * Resolves as soon as the cached key is dropped or expires.
   */
  untilForgotten(timeoutMs: number): Promise<void>
}

/**
 * Returns the name of a user's rate limiter. Rate limiters of API keys are named by the keys'
 * hashes.
 */
export function userLimiterName(userId: string): string {
  return `user:${userId}`
}

/** Returns the name of the rate limiter of an upload link. */
export function uploadLinkLimiterName(linkId: string): string {
  return `upload-link:${linkId}`
}

/** Status and body of a runner's response. */
export type RunnerAnswer = { status: number; text: string }

/** Run of a task, distinguished from earlier runs by the number of its dispatch (`fence`). */
export type TaskRun = { accountId: string; jobId: string; taskId: string; fence: number }

/**
 * Health of a slot's container: whether the container runs, the failure of its last start, and its
 * response to the health request.
 */
export type ContainerState = {
  isRunning: boolean
  problem: string | null
  health: RunnerAnswer | null
}

/**
 * Path of a runner's health route. With `attacks=all`, the runner first tests its sandbox by all
 * known attacks.
 */
export type RunnerHealthPath = "/health" | "/health?attacks=all"

export type RunnerRpc = DurableObject & {
  /** Sends a task to the container. Starts a stopped container first. */
  post(order: TaskOrder): Promise<RunnerAnswer>
  /**
   * Kills the runs of a task up to the dispatch with the number `fence`. Does not start a stopped
   * container.
   */
  kill(taskId: string, fence: number): Promise<RunnerAnswer>
  /**
   * Stops the container even during a run. Returns false without stopping the container if its slot
   * has been allocated again since `allocation`.
   */
  end(allocation: number): Promise<boolean>
  /**
   * Returns the health of the container without starting a stopped container. With `attacks=all` in
   * the path, the runner first tests its sandbox by all known attacks.
   */
  inspect(healthPath?: RunnerHealthPath): Promise<ContainerState>
  /**
   * Informs the container's Durable Object that the run has sent its last report, so that the
   * object counts the container as idle.
   */
  runEnded(run: TaskRun): void
}
