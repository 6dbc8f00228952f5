import { isFinal } from "../../storage/schema/states.ts"
import type { JobSnapshot, Transition } from "../../storage/transitions.ts"
import type { ReceivedReport } from "./transitions.ts"

/**
 * The transition of a report, with what it says of the task's tools kept in the row of the task, where
 * that ends by it; the job then says that it has a log.
 */
export function keepLog(
  { tasks }: JobSnapshot,
  { taskId, report }: ReceivedReport,
  transition: Transition | null,
): Transition | null {
  const log = report.kind === "interrupted" ? undefined : report.log
  const set = transition?.tasks.find(({ id }) => id === taskId)?.set
  const kind = tasks.find(({ id }) => id === taskId)?.work.kind
  if (!transition || log === undefined || kind === undefined) return transition
  if (!set?.state || !isFinal(set.state)) return transition
  const result = { ...(set.result ?? { kind }), log }
  const { job } = transition
  const isOver = job.state !== undefined && isFinal(job.state)
  return {
    ...transition,
    ...(isOver && { job: { ...job, result: { outputs: [], ...job.result, hasLog: true } } }),
    tasks: transition.tasks.map((each) =>
      each.id === taskId ? { id: taskId, set: { ...set, result } } : each,
    ),
  }
}
