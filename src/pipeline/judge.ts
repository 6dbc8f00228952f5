import type { Failure } from "../contract/failure.ts"
import { FREED, isPosted } from "../storage/held-tasks.ts"
import type { HeldTasks } from "../storage/held-tasks.ts"
import type { OpenTask } from "../storage/tasks.ts"
import { backOffMs, expired, failureOfInputs, isBlocked } from "./task.ts"

/** A job that can never start, and why. */
export type Doomed = { jobId: string; failure: Failure }

/**
 * Makes held tasks agree with what D1 says of them: what was taken back waits again, what was
 * blocked and can start waits for a slot. Answers the jobs that are to fail.
 */
export function judgeTasks(
  held: HeldTasks,
  open: OpenTask[],
  { now, waitMsMax }: { now: number; waitMsMax: number },
): Doomed[] {
  return open.flatMap((task) => {
    const known = held.find(task.id)
    if (!known || task.state !== "waiting") return []
    if (isPosted(known) && known.fence === task.fence) {
      held.save({ ...known, ...FREED, step: "waiting", notBefore: now + backOffMs(task) })
      return []
    }
    if (known.step !== "blocked" && known.step !== "waiting") return []
    const isLate = task.createdAt + waitMsMax <= now
    const failure = failureOfInputs(task.inputs) ?? (isLate ? expired() : null)
    if (failure) return [{ jobId: task.jobId, failure }]
    const step = isBlocked(task.inputs) ? "blocked" : "waiting"
    if (known.step !== step) held.save({ ...known, step })
    return []
  })
}
