import type { Failure } from "../contract/failure.ts"
import type { Task } from "../storage/schema.ts"
import type { Readiness } from "../storage/tasks.ts"

/** How often a task may be taken back before its job fails, by whose doing it was. */
const BUDGETS = { failures: 3, interruptions: 10 }

/** Why a run ended without a result that is the caller's. */
export type Setback = { kind: "failure" | "interruption" | "no capacity"; failure: Failure }

/** The task as it waits again; its fence stays, so that the old run's words no longer count. */
export function reschedule(task: Task, setback: Setback): Partial<Task> {
  return {
    state: "waiting",
    slot: null,
    grant: null,
    failures: task.failures + (setback.kind === "failure" ? 1 : 0),
    interruptions: task.interruptions + (setback.kind === "interruption" ? 1 : 0),
  }
}

/** Whether a task has used up one of its budgets. */
export function isSpent(task: Pick<Task, "failures" | "interruptions">): boolean {
  return task.failures >= BUDGETS.failures || task.interruptions >= BUDGETS.interruptions
}

/** How long a task that was taken back waits before its next dispatch, in milliseconds. */
export function backOffMs(task: Pick<Task, "failures" | "interruptions">): number {
  const setbacks = task.failures + task.interruptions
  return setbacks === 0 ? 1_000 : Math.min(30_000, 500 * 4 ** (setbacks - 1))
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

export function isBlocked(inputs: readonly Readiness[]): boolean {
  return inputs.includes("pending")
}

/** Why a task can never start, judged by its inputs; null where it can, now or later. */
export function failureOfInputs(inputs: readonly Readiness[]): Failure | null {
  if (inputs.includes("gone")) {
    return {
      code: "input_deleted",
      message: "An input file was deleted before the job could read it.",
      lines: [],
    }
  }
  if (inputs.includes("failed")) {
    return { code: "input_failed", message: "An input could not be brought in.", lines: [] }
  }
  return null
}
