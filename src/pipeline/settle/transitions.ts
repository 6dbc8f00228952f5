import type { Failure } from "../../contract/failure.ts"
import { isOversized } from "../../contract/oversized.ts"
import { oversizedReport } from "../../contract/report.ts"
import type { Report } from "../../contract/report.ts"
import { finishInput, isOfInput, resultWithout } from "../../kinds/finish-inputs.ts"
import type { InputFinish } from "../../kinds/finish-inputs.ts"
import { findTaskDefinition, kindOf } from "../../kinds/registry.ts"
import {
  attemptPrefix,
  attemptPrefixes,
  prefixOf as prefixOfObject,
  RESUMABLE_FENCE,
} from "../../storage/objects.ts"
import type { Finish } from "../../kinds/kind.ts"
import type { File } from "../../storage/schema/files.ts"
import { isFinal, isOfAccount } from "../../storage/schema/states.ts"
import type { FinalState } from "../../storage/schema/states.ts"
import type { Task } from "../../storage/schema/tasks.ts"
import type { JobSnapshot, Transition } from "../../storage/transitions.ts"
import { isBudgetSpent, mayHandOver, requeuedTask, runnerLost } from "./attempts.ts"
import type { AttemptFailure } from "./attempts.ts"
import { endedInput, jobFailure } from "./input-failures.ts"
import type { FailedImport } from "./input-failures.ts"

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
  const { processing_seconds } = report
  const result = resultWithout(task, report.failure)
  if (result) {
    const ended = finishTransition(snapshot, task, { result, processing_seconds }, now)
    return startedBefore(snapshot, received, ended)
  }
  const transition = failTransition(snapshot, { task, failure: report.failure }, now)
  transition.job.processingMs = snapshot.job.processingMs + toMs(processing_seconds)
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

/** `failed` is the task that ended the job. */
export type JobEnd = { state: FinalState; failure?: Failure; failed?: FailedImport; now: number }

/**
 * Ends an open job: its open tasks are closed, its files to come fail, and what earlier tasks of it made
 * for it alone is garbage.
 */
export function endTransition(snapshot: JobSnapshot, end: JobEnd): Transition {
  const open = snapshot.tasks.filter((task) => !isFinal(task.state))
  const left = leftFiles(snapshot)
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
    files: [
      ...snapshot.files
        .filter((file) => !isFinal(file.state))
        .map((file) => ({ id: file.id, set: endedFile(snapshot, file, end) })),
      ...left.map(({ id }) => ({ id, set: { objectKey: null, probeObjectKey: null } })),
    ],
    garbage: [
      ...open
        .filter((task) => task.fence > 0)
        .flatMap((task) => [prefixOf(task), prefixOf({ ...task, fence: RESUMABLE_FENCE })]),
      ...new Set(left.map(({ objectKey }) => prefixOfObject(objectKey))),
    ].map((prefix) => ({ prefix })),
  }
}

/** What tasks that are done stored of files that are no Files of the account, and end with their job. */
function leftFiles({ files }: JobSnapshot): { id: string; objectKey: string }[] {
  return files.flatMap(({ id, source, state, objectKey }) => {
    const isLeft = objectKey !== null && isFinal(state) && !isOfAccount(source)
    return isLeft ? [{ id, objectKey }] : []
  })
}

/** Ends a job whose task failed for good. */
function failTransition(snapshot: JobSnapshot, failed: FailedImport, now: number): Transition {
  const failure = jobFailure(snapshot, failed.task, failed.failure)
  return endTransition(snapshot, { state: "failed", failure, failed, now })
}

/** Time since the job began, for one that ends without a report of its processing time. */
function sinceStartMs({ job }: JobSnapshot, now: number): number {
  return job.startedAt === null ? 0 : Math.max(0, now - job.startedAt)
}

/** The job is done with its last task; until then results of tasks are kept in their rows. */
function finishTransition(
  snapshot: JobSnapshot,
  task: Task,
  report: Pick<Extract<TerminalReport, { kind: "finished" }>, "result" | "processing_seconds">,
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
  const own = tasks.filter((each) => !isOfInput(each.task))
  const input = isOfInput(task) ? finishInput(snapshot, { task, result: report.result }, now) : null
  const known = setFiles(files, input?.files ?? [])
  const finish = kindOf(job.kind).finish({ job, files: known, tasks: own })
  const made = [
    ...finish.files.map(({ id, set }) => ({ id, set: { ...done, ...set } })),
    ...(input?.files ?? []),
  ]
  const warnings = tasks.flatMap(({ result }) => result.warnings ?? [])
  const open = new Set(files.flatMap(({ id, state }) => (isFinal(state) ? [] : [id])))
  return {
    job: {
      ...(isLast && { ...done, result: finish.result }),
      ...(isLast && warnings.length > 0 && { warnings }),
      processingMs: job.processingMs + toMs(report.processing_seconds),
    },
    tasks: [
      { id: task.id, set: { ...done, ...(!isLast && { result: report.result }) } },
      ...(input?.tasks ?? []),
    ],
    files: made.filter(({ id }) => open.has(id)),
    garbage: unusedPrefixes(task, files, made).map((prefix) => ({ prefix })),
  }
}

/** Files as they are once they are changed. */
function setFiles(files: readonly File[], changes: InputFinish["files"]): File[] {
  const sets = new Map(changes.map(({ id, set }) => [id, set]))
  return files.map((file) => ({ ...file, ...sets.get(file.id) }))
}

/**
 * Prefixes of a task that is done below which no file lies: those of its earlier runs, and all where
 * the file that it made was deleted meanwhile.
 */
function unusedPrefixes(task: Task, files: readonly File[], made: Finish["files"]): string[] {
  // A task that may store nothing has stored nothing.
  if ((task.work.outputs ?? []).length === 0) return []
  const known = new Set(files.map(({ id }) => id))
  const objectKeys = made.flatMap(({ id, set }) => (known.has(id) ? (set.objectKey ?? []) : []))
  const unused = attemptPrefixes(task).filter(
    (prefix) => !objectKeys.some((objectKey) => objectKey.startsWith(prefix)),
  )
  // The usual task stored what it made in its only run, and nothing else.
  return task.fence === 1 && !unused.includes(prefixOf(task)) ? [] : unused
}

function attemptTransition(
  snapshot: JobSnapshot,
  task: Task,
  failed: AttemptFailure,
  now: number,
): Transition {
  const set = requeuedTask(task, failed, now)
  if (isBudgetSpent({ ...task, ...set })) {
    const result = resultWithout(task, failed.failure)
    if (result) return finishTransition(snapshot, task, { result, processing_seconds: 0 }, now)
    return failTransition(snapshot, { task, failure: failed.failure }, now)
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

/** What a file that is still to come is once its job is over. */
function endedFile(snapshot: JobSnapshot, file: File, end: JobEnd): Partial<File> {
  const ofCaller = endedInput(snapshot, file, { now: end.now, failed: end.failed })
  if (ofCaller) return ofCaller
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

function prefixOf(task: Pick<Task, "id" | "accountId" | "fence">): string {
  return attemptPrefix(task.accountId, { taskId: task.id, fence: task.fence })
}

function setTask(transition: Transition, id: string, set: Partial<Task>): void {
  const known = transition.tasks.find((changed) => changed.id === id)
  if (known) known.set = set
}

function toMs(seconds: number): number {
  return Math.round(seconds * 1000)
}
