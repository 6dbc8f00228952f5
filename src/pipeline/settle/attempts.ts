import type { Failure } from "../../contract/failure.ts"
import type { Task } from "../../storage/schema/tasks.ts"

/** The longest backoff; a task that is to wait longer was requeued by a clock that was ahead. */
export const BACKOFF_MS_MAX = 30_000

/** How often a task may be requeued before its job fails, by what caused it. */
const BUDGETS = { failures: 3, interruptions: 10 }

/** Why an attempt ended without a result that is the caller's. */
export type AttemptFailure = {
  cause: "failure" | "interruption" | "no capacity" | "hand-over"
  failure: Failure
}

/** The task as it waits again; its fence stays, so that reports of the old run no longer count. */
export function requeuedTask(task: Task, { cause }: AttemptFailure, now: number): Partial<Task> {
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

/** Whether a run may be interrupted for another account's turn: a task once, so that it ends. */
export function mayHandOver({ handOvers }: Pick<Task, "handOvers">): boolean {
  return handOvers === 0
}

/** Whether a task has used up one of its budgets. */
export function isBudgetSpent(task: Pick<Task, "failures" | "interruptions">): boolean {
  return task.failures >= BUDGETS.failures || task.interruptions >= BUDGETS.interruptions
}

/** How long a requeued task waits before its next dispatch, in milliseconds. */
export function backoffMs(task: Pick<Task, "failures" | "interruptions">): number {
  const attempts = task.failures + task.interruptions
  return attempts === 0 ? 1_000 : Math.min(BACKOFF_MS_MAX, 500 * 4 ** (attempts - 1))
}

export function expired(): Failure {
  return {
    code: "expired",
    message: "No runner had room for this job for too long; it can be sent again.",
    lines: [],
  }
}

export function runnerLost(): Failure {
  return {
    code: "runner_lost",
    message: "The machines that worked on this job were lost too often; it can be sent again.",
    lines: [],
  }
}
