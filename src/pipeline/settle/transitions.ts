import type { Failure } from "../../contract/failure.ts"
import { isOversized } from "../../contract/oversized.ts"
import { oversizedReport } from "../../contract/report.ts"
import type { Report } from "../../contract/report.ts"
import { findTaskDefinition, kindOf } from "../../kinds/registry.ts"
import { attemptPrefix, earlierPrefixes } from "../../storage/objects.ts"
import type { File } from "../../storage/schema/files.ts"
import { isFinal } from "../../storage/schema/states.ts"
import type { FinalState } from "../../storage/schema/states.ts"
import type { Task } from "../../storage/schema/tasks.ts"
import type { JobSnapshot, Transition } from "../../storage/transitions.ts"
import { isBudgetSpent, mayHandOver, requeuedTask, runnerLost } from "./attempts.ts"
import type { AttemptFailure } from "./attempts.ts"

export type TerminalReport = Extract<Report, { kind: "finished" | "failed" | "interrupted" }>

/** The last report of a run, as it was received. */
export type ReceivedReport = { taskId: string; fence: number; report: TerminalReport; now: number }

/**
 * The report that counts; null where it has a result other than the definition of its task's kind
 * says. One that does not count as a whole is as it came; in the place of a result that is too much
 * to be kept stands the failure that says so.
 */
export function readReport(snapshot: JobSnapshot, received: ReceivedReport): ReceivedReport | null {
  const { report } = received
  const task = runningTask(snapshot, received.taskId, received.fence)
  if (!task || report.kind !== "finished") return received
  const parsed = findTaskDefinition(task.work.kind)?.result.safeParse(report.result)
  if (parsed?.success) return received
  if (!parsed || !isOversized(parsed.error)) return null
  const { processing_seconds } = report
  return { ...received, report: { ...oversizedReport(report.boot), processing_seconds } }
}

/**
 * The transition of a job by the last report of a run. Null: the report does not count, because
 * the job is over or the task runs at another fence.
 */
export function reportTransition(
  snapshot: JobSnapshot,
  received: ReceivedReport,
): Transition | null {
  const task = runningTask(snapshot, received.taskId, received.fence)
  if (!task) return null
  const { report, now } = received
  if (report.kind === "finished") {
    return startedBefore(snapshot, received, finishTransition(snapshot, task, report, now))
  }
  if (report.kind === "interrupted") {
    const interruption = { cause: "interruption" as const, failure: runnerLost() }
    return startedBefore(snapshot, received, attemptTransition(snapshot, task, interruption, now))
  }
  if (report.blame === "ours") {
    const failed = { cause: "failure" as const, failure: report.failure }
    return startedBefore(snapshot, received, attemptTransition(snapshot, task, failed, now))
  }
  const processingMs = snapshot.job.processingMs + toMs(report.processing_seconds)
  const transition = endTransition(snapshot, { state: "failed", failure: report.failure, now })
  transition.job.processingMs = processingMs
  setTask(transition, task.id, { state: "failed", completedAt: now })
  return startedBefore(snapshot, received, transition)
}

/**
 * A transition of a job by a report of a run: a runner took the job before, also where the report
 * overtook what says so.
 */
function startedBefore(
  { job, tasks }: JobSnapshot,
  { report, now }: ReceivedReport,
  transition: Transition,
): Transition {
  const runMs = Math.max(0, toMs(report.processing_seconds))
  const startedAt = job.startedAt ?? Math.max(job.createdAt, now - runMs)
  const spent = tasks.map((task) => task.failures + task.interruptions + task.handOvers)
  const attempts = Math.max(job.attempts, 1 + Math.max(...spent))
  const started = { state: "running" as const, startedAt, attempts }
  return { ...transition, job: { ...started, ...transition.job } }
}

/** Why a dispatcher requeues a run by itself. */
export type RequeueCause = Extract<AttemptFailure["cause"], "failure" | "no capacity" | "hand-over">

/**
 * Requeues a task whose run was lost, found no runner or makes way for another account, or ends its
 * job where its budget is spent. Null where the run is over, or may not be handed over.
 */
export function requeueTransition(
  snapshot: JobSnapshot,
  lost: { taskId: string; fence: number; cause: RequeueCause; now: number },
): Transition | null {
  const { cause } = lost
  const task = runningTask(snapshot, lost.taskId, lost.fence)
  if (!task || (cause === "hand-over" && !mayHandOver(task))) return null
  return attemptTransition(snapshot, task, { cause, failure: runnerLost() }, lost.now)
}

export type JobEnd = { state: FinalState; failure?: Failure; now: number }

/** Ends an open job: its open tasks are closed and its files to come fail. */
export function endTransition(snapshot: JobSnapshot, end: JobEnd): Transition {
  const open = snapshot.tasks.filter((task) => !isFinal(task.state))
  return {
    job: {
      state: end.state,
      completedAt: end.now,
      processingMs: snapshot.job.processingMs || sinceStartMs(snapshot, end.now),
      errorCode: end.failure?.code ?? null,
      errorMessage: end.failure?.message ?? null,
      errorLines: end.failure?.lines ?? null,
    },
    tasks: open.map((task) => ({
      id: task.id,
      set: { state: "canceled", completedAt: end.now },
    })),
    files: snapshot.files
      .filter((file) => !isFinal(file.state))
      .map((file) => ({ id: file.id, set: failedFile(file, end) })),
    garbage: open.filter((task) => task.fence > 0).map((task) => ({ prefix: prefixOf(task) })),
  }
}

/** Time since the job began, for one that ends without a report of its processing time. */
function sinceStartMs({ job }: JobSnapshot, now: number): number {
  return job.startedAt === null ? 0 : Math.max(0, now - job.startedAt)
}

/** The job is done with its last task; until then results of tasks are kept in their rows. */
function finishTransition(
  snapshot: JobSnapshot,
  task: Task,
  report: Extract<TerminalReport, { kind: "finished" }>,
  now: number,
): Transition {
  const { job, files } = snapshot
  const others = snapshot.tasks.filter((other) => other.id !== task.id)
  const isLast = others.every((other) => other.state === "succeeded")
  const done = { state: "succeeded" as const, completedAt: now }
  const earlier = others.flatMap(({ result, ...other }) =>
    other.state === "succeeded" && result ? [{ task: { ...other, result }, result }] : [],
  )
  const tasks = [...earlier, { task, result: report.result }]
  const finish = kindOf(job.kind).finish({ job, files, tasks })
  const warnings = tasks.flatMap(({ result }) => result.warnings ?? [])
  const open = new Set(files.flatMap(({ id, state }) => (isFinal(state) ? [] : [id])))
  return {
    job: {
      ...(isLast && { ...done, result: finish.result }),
      ...(isLast && warnings.length > 0 && { warnings }),
      processingMs: job.processingMs + toMs(report.processing_seconds),
    },
    tasks: [{ id: task.id, set: { ...done, ...(!isLast && { result: report.result }) } }],
    files: finish.files
      .filter(({ id }) => open.has(id))
      .map(({ id, set }) => ({ id, set: { ...done, ...set } })),
    garbage: earlierPrefixes(task).map((prefix) => ({ prefix })),
  }
}

function attemptTransition(
  snapshot: JobSnapshot,
  task: Task,
  failed: AttemptFailure,
  now: number,
): Transition {
  const set = requeuedTask(task, failed, now)
  if (isBudgetSpent({ ...task, ...set })) {
    return endTransition(snapshot, { state: "failed", failure: failed.failure, now })
  }
  return {
    job: {},
    tasks: [{ id: task.id, set }],
    files: [],
    garbage: [{ prefix: prefixOf(task) }],
  }
}

function runningTask(snapshot: JobSnapshot, taskId: string, fence: number): Task | null {
  if (isFinal(snapshot.job.state)) return null
  const task = snapshot.tasks.find((known) => known.id === taskId)
  return task?.state === "running" && task.fence === fence ? task : null
}

function failedFile(file: File, end: JobEnd): Partial<File> {
  return {
    state: "failed",
    completedAt: end.now,
    errorCode: end.failure?.code ?? null,
    errorMessage: end.failure?.message ?? null,
    ...(file.objectKey && end.failure?.code === "probe_failed"
      ? { probeError: end.failure.message }
      : {}),
  }
}

function prefixOf(task: Task): string {
  return attemptPrefix(task.accountId, { taskId: task.id, fence: task.fence })
}

function setTask(transition: Transition, id: string, set: Partial<Task>): void {
  const known = transition.tasks.find((changed) => changed.id === id)
  if (known) known.set = set
}

function toMs(seconds: number): number {
  return Math.round(seconds * 1000)
}
