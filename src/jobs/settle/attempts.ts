import type { Failure } from "../../contract/failure.ts"
import type { Task } from "../../db/schema/tasks.ts"

/**
 * Maximum backoff, in milliseconds. A stored start time that is further in the future comes from a
 * clock that ran ahead.
 */
export const BACKOFF_MS_MAX = 30_000

/** Numbers of failures and of interruptions of a task at which the task fails its job. */
const BUDGETS = { failures: 3, interruptions: 10 }

/** Failed run of a task, caused by the service and not by the request. */
export type AttemptFailure = {
  cause: "failure" | "interruption" | "no capacity" | "hand-over"
  failure: Failure
}

/**
 * Returns the change of a task's row that requeues the task. The fencing token stays the same until
 * the next claim raises it. Reports of the old run no longer count, because the task is waiting.
 */
export function computeRequeuedTaskColumns(
  task: Task,
  { cause }: AttemptFailure,
  now: number,
): Partial<Task> {
  return {
    state: "waiting",
    slot: null,
    allocation: null,
    requeuedAt: cause === "no capacity" ? task.requeuedAt : now,
    failures: task.failures + (cause === "failure" ? 1 : 0),
    interruptions: task.interruptions + (cause === "interruption" ? 1 : 0),
    handOvers: task.handOvers + (cause === "hand-over" ? 1 : 0),
  }
}

/**
 * Reports whether a run may be interrupted to free its slot for another account. Each task is
 * interrupted at most once for this reason, so that every task finishes eventually.
 */
export function mayHandOverSlot({ handOvers }: Pick<Task, "handOvers">): boolean {
  return handOvers === 0
}

/** Reports whether a task has reached its maximum number of failures or interruptions. */
export function isRetryBudgetSpent(task: Pick<Task, "failures" | "interruptions">): boolean {
  return task.failures >= BUDGETS.failures || task.interruptions >= BUDGETS.interruptions
}

/** Returns the backoff of a requeued task before its next dispatch, in milliseconds. */
export function computeBackoffMs(task: Pick<Task, "failures" | "interruptions">): number {
  const attempts = task.failures + task.interruptions
  return attempts === 0 ? 1_000 : Math.min(BACKOFF_MS_MAX, 500 * 4 ** (attempts - 1))
}

/** Returns the failure of a job that waited too long for a runner. */
export function makeJobExpiredFailure(): Failure {
  return {
    code: "expired",
    message: "No runner was free before the waiting time of the job ended; retry the job.",
    lines: [],
  }
}

/** Returns the failure of a job whose runs were lost too often. */
export function makeRunnerLostFailure(): Failure {
  return {
    code: "runner_lost",
    message: "The runners of the job were lost too often; retry the job.",
    lines: [],
  }
}
