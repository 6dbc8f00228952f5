import type { DegradedReason } from "./contract/runner-health.ts"
import type { ProgressDetail } from "./contract/report.ts"
import type { TaskOrder } from "./contract/task.ts"
import type { HeldPlan } from "./plans.ts"
import type { Scope } from "./scopes.ts"
import type { JobSnapshot } from "./storage/transitions.ts"

// The interfaces of the Durable Objects. The classes implement these types, so that callers import
// no class, and no import runs in a circle.

type DurableObject = Rpc.DurableObjectBranded

/**
 * How far a job is: `percent` from 0 to 100, 0 where it is not known; `etaSeconds` where it can be
 * estimated, and `detail` where the tool that works says so.
 */
export type Progress = {
  percent: number
  etaSeconds?: number | undefined
  detail?: ProgressDetail | undefined
}

/** A task as its job was created: enough to queue it without a read of D1. */
export type TaskMessage = {
  id: string
  jobId: string
  /** The pool of runners that does it. */
  pool: string
  priority: number
  /** Whether an input of it is still on its way. */
  blocked: boolean
  /** Its share of the work of its job, and that of all tasks of the job. */
  weight: number
  jobWeight: number
  createdAt: number
}

/** A runner's sign of life for one run of a task. */
export type Heartbeat = {
  taskId: string
  fence: number
  boot: string
  progress?: Progress | undefined
}

/** Runs that ended with their process: a plain runner's new boot, or a container's that stopped. */
export type LostRuns = { boot: string } | { stopped: string }

/**
 * What a watcher knows of a job: its version, and its progress where that is to wake it too. One that
 * knows `endings` is woken by these alone.
 */
export type SeenJob = { version: string; progress?: Progress | null; endings?: string }

/** What is known of a job of which nothing can have ended yet. */
export const NO_ENDINGS: SeenJob = { version: "", endings: "" }

/**
 * A job at a moment: `version` is another text whenever D1 may have something new of it, and `endings`
 * whenever it, or a task of it, may be over.
 */
export type JobChange = { version: string; endings: string; progress: Progress | null }

export type DispatcherRpc = DurableObject & {
  /** Queues a job's tasks; repeating it changes nothing. */
  accept(accountId: string, tasks: TaskMessage[]): Promise<void>
  /** Renews the lease of a run that is still the task's; false: the run is to be killed. */
  renewLease(accountId: string, jobId: string, heartbeat: Heartbeat): Promise<boolean>
  /**
   * Removes tasks that ended; `killed` where their runs are to be killed. `over`: the caller has seen in
   * D1 that all of them are over, which stays so, and D1 need not be asked again.
   */
  tasksEnded(accountId: string, ids: string[], killed?: boolean, over?: boolean): Promise<void>
  /**
   * The job of a task as its claim found it, once; null where that is not known any more. D1 may have
   * another version of it since.
   */
  claimedJob(taskId: string): Promise<JobSnapshot | null>
  /** How far jobs are, by their ids; without those of which nothing runs. */
  progressOfJobs(jobIds: string[]): Promise<Map<string, Progress>>
  /** Resolves once a job differs from what was seen of it, or at the timeout. */
  nextChange(jobId: string, seen: SeenJob | null, timeoutMs: number): Promise<JobChange>
  /** Files were deleted: jobs that wait for them can never start. */
  filesGone(accountId: string, fileIds: string[]): Promise<void>
  /**
   * Reconciles a part of the queue with D1, the next one each time, and goes on; cancels some of the
   * jobs of a deleted account.
   */
  tick(accountId: string): Promise<void>
  /** Requeues the tasks whose runs were lost with their process. */
  runsLost(accountId: string, lost: LostRuns): Promise<void>
  /** A pool has given a slot that was requested before, or has not heard of the account for long. */
  wake(accountId: string, pool?: string): Promise<void>
  /** The account has another plan: its limits are read anew. */
  planChanged(accountId: string): Promise<void>
  /**
   * Interrupts and requeues the run of an allocation, so that another account gets the slot; false
   * where it goes on, since a task is handed over once at most.
   */
  handOver(accountId: string, allocation: Pick<SlotAllocation, "id" | "slot">): Promise<boolean>
}

/** A slot given to an account for one task. */
export type SlotAllocation = { id: number; slot: string; accountId: string }

export type SlotRequest = {
  accountId: string
  /** Rises with every request of an account; lower ones are late and ignored. */
  number: number
  /** How many more tasks could start now. */
  wanted: number
  /** Share of the pool's slots that the account may hold while others want some; 1 by default. */
  slotsShareMax?: number
  /** Allocations whose task is under way. */
  inUse: number[]
  /** Allocations whose task is over. */
  released: number[]
  /** The account knows no other allocations than those in use: all others are taken back first. */
  isResync?: boolean
}

/**
 * Problems of a slot's container: a start was refused, a task since there is no sandbox, or the yt-dlp
 * that was to be used could not be installed.
 */
export type SlotProblem = Extract<
  DegradedReason,
  "container_not_started" | "sandbox_failed" | "ytdlp_update_failed"
>

/** Whether a slot's container has a problem. */
export type JudgedProblem = { slot: string; problem: SlotProblem; isThere: boolean }

export type PoolRpc = DurableObject & {
  /** Answers all allocations of the account; null where a later request was received already. */
  requestSlots(
    pool: string,
    request: SlotRequest,
  ): Promise<Pick<SlotAllocation, "id" | "slot">[] | null>
  /** A runner's new process came up: holders check whether their run ended with the old one. */
  runnerStarted(boot: string): Promise<void>
  /** A slot's container stopped: its holder requeues what the process had. */
  slotStopped(stopped: { slot: string; boot: string }): Promise<void>
  /** A slot's runner fell silent under this allocation: it is ended before the slot is used again. */
  slotDistrusted(run: { slot: string; allocation: number }): Promise<void>
  /** A slot's container has a problem, or has it no longer. */
  problemJudged(judged: JudgedProblem): Promise<void>
  /** How many slots the pool has, and how many are given; and how many accounts want more. */
  usage(pool: string): Promise<{ slots: number; used: number; waitingAccounts: number }>
  /** Slots whose containers may run: all that were given to an account and not ended for another. */
  occupiedSlots(): Promise<string[]>
  /** Why slots of the pool cannot be used as they should be; empty where all is well. */
  degradedReasons(): Promise<DegradedReason[]>
  /** Sweeps a database; called of objects that are named by databases and own no slots. */
  sweepDatabase(swept: SweptDatabase): Promise<void>
}

/** Number of a database to sweep, the moment of the sweep, and whether the Worker's only process began then. */
export type SweptDatabase = { database: number; now: number; isStart: boolean }

/** The account that a caller acts for: what may be cached of it. */
export type Holder = HeldPlan & { id: string; isSuspended: boolean }

/** The key of a request, as far as it may be cached; `expiresAt` is null for one that never does. */
export type HeldKey = { id: string; scopes: Scope[]; expiresAt: number | null }

/** Who makes a request: `key` is null for a user of the dashboard. */
export type Caller = { account: Holder; key: HeldKey | null }

/** What a caller may still do in this minute, and who it is. */
export type Allowance = {
  caller: Caller
  limit: number
  allowed: boolean
  remaining: number
  resetSeconds: number
  /** Whether the caller may have changed something lately, and is to see it. */
  hasChanged: boolean
}

/** What a request asks of its limiter: whether it may change something, and others ahead. */
export type Taking = { changes: boolean; wanted: number; unused: Unused | null }

/** Requests that were granted at a moment and not made. */
export type Unused = { count: number; grantedAt: number }

/** An allowance with what may be let through without asking again. */
export type Granted = Allowance & {
  /** So many further requests, already taken from what remains, and for how long after the call. */
  more: number
  moreMs: number
  /** When it was granted, and when the window ends, in milliseconds since the epoch. */
  grantedAt: number
  windowEndsAt: number
}

/** Counts the requests of one key, by its hash, or of one user, by `userLimiterName`. */
export type RateLimiterRpc = DurableObject & {
  /**
   * Takes one request from the key's allowance, and others ahead where so many are `wanted` and there
   * is plenty; null where no such key is valid.
   */
  take(keyHash: string, taking?: Taking): Promise<Granted | null>
  /** Counts requests no more that were granted ahead and not made. */
  giveBack(unused: Unused): Promise<void>
  /** Takes one request from the allowance of a user whose session was checked. */
  takeFor(caller: Caller, taking?: Pick<Taking, "changes">): Promise<Allowance>
  /** Notes that a request that was granted ahead may change something. */
  noteChange(): Promise<void>
  /** Begins an upload; false where the caller has as many open as it may. */
  beginUpload(uploadId: string): Promise<boolean>
  /** Says that an upload goes on; one that is not renewed counts as over after a while. */
  renewUpload(uploadId: string): Promise<void>
  endUpload(uploadId: string): Promise<void>
  /** Whether the key is still one of an account that may ask; takes nothing from its allowance. */
  isValid(keyHash: string): Promise<boolean>
  /** Looks the key up anew at its next request. */
  forget(): Promise<void>
  /** Resolves when the key is to be looked up anew or expires, or at the timeout. */
  untilForgotten(timeoutMs: number): Promise<void>
}

/** The name of the limiter of a user's requests; those of keys are named by hashes. */
export function userLimiterName(userId: string): string {
  return `user:${userId}`
}

/** What a runner answered, or why it could not; the body is read already. */
export type RunnerAnswer = { status: number; text: string }

/** One run of a task: the task, its job and account, and the fence. */
export type TaskRun = { accountId: string; jobId: string; taskId: string; fence: number }

/** How the container of a slot is: why its last start failed, and what `GET /health` of it answers. */
export type ContainerState = {
  isRunning: boolean
  problem: string | null
  health: RunnerAnswer | null
}

/** Where a runner says its health; with the query the first request has it try all attacks. */
export type HealthPath = "/health" | "/health?attacks=all"

export type RunnerRpc = DurableObject & {
  /** Hands a task to the container, which is started where it does not run. */
  post(order: TaskOrder): Promise<RunnerAnswer>
  /** Kills a task's run at this fence or below; a container that does not run stays so. */
  kill(taskId: string, fence: number): Promise<RunnerAnswer>
  /** Ends the container, whatever it does; false where a later allocation has the slot already. */
  end(allocation: number): Promise<boolean>
  /** Says how the container is, after all attacks on its sandbox if they are wanted; starts none. */
  inspect(healthPath?: HealthPath): Promise<ContainerState>
  /** The run has sent its last report; the container is idle from now on. */
  runEnded(run: TaskRun): void
}
