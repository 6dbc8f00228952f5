import type { Failure } from "../../contract/failure.ts"
import { hasTooBigZodIssue } from "../../contract/too-big-issue.ts"
import { makeOversizedReportFailure } from "../../contract/report.ts"
import type { Report } from "../../contract/report.ts"
import {
  toProbeFailureColumns,
  computeInputColumnChanges,
  isImportOrProbeTask,
  toOptionalProbeResult,
} from "../../kinds/finish-inputs.ts"
import type { InputColumnChanges } from "../../kinds/finish-inputs.ts"
import { findTaskDefinition, getKind } from "../../kinds/registry.ts"
import {
  makeAttemptKeyPrefix,
  listAttemptKeyPrefixes,
  getFileKeyPrefix,
  RESUMABLE_UPLOAD_FENCE,
} from "../../domain/object-keys.ts"
import type { FileColumnsAndJobResult } from "../../kinds/kind.ts"
import type { File } from "../../db/schema/files.ts"
import { isFinalState, isAccountFileSource } from "../../domain/states.ts"
import type { FinalState } from "../../domain/states.ts"
import type { Task } from "../../db/schema/tasks.ts"
import type { JobTransition } from "../../db/jobs/apply-transition.ts"
import type { JobSnapshot } from "../../domain/snapshot.ts"
import {
  isRetryBudgetSpent,
  mayHandOverSlot,
  computeRequeuedTaskColumns,
  makeRunnerLostFailure,
} from "./attempts.ts"
import type { AttemptFailure } from "./attempts.ts"
import { computeInputFileColumnsAtJobEnd, toJobFailure } from "./input-failures.ts"
import type { FailedTask } from "./input-failures.ts"

/** Report that ends a run. */
export type TerminalReport = Extract<Report, { kind: "finished" | "failed" | "interrupted" }>

/** Last report of a run, with the time of its receipt. */
export type ReceivedReport = { taskId: string; fence: number; report: TerminalReport; now: number }

/**
 * Validates the result of a report; returns null if the result does not match the kind of the task.
 * A report of a run that no longer counts is returned as received. Replaces an oversized result by
 * a failure.
 */
export function validateReport(
  snapshot: JobSnapshot,
  received: ReceivedReport,
): ReceivedReport | null {
  const { report } = received
  const task = findRunningTask(snapshot, received.taskId, received.fence)
  if (!task || report.kind !== "finished") return received
  const parsed = findTaskDefinition(task.work.kind)?.result.safeParse(report.result)
  if (parsed?.success) return received
  if (!parsed || !hasTooBigZodIssue(parsed.error)) return null
  const { processing_seconds } = report
  return { ...received, report: { ...makeOversizedReportFailure(report.boot), processing_seconds } }
}

/**
 * Returns the transition of a job after the last report of a run. Returns null if the report does
 * not count, because the job is over or the task now has another fencing token.
 */
export function computeReportTransition(
  snapshot: JobSnapshot,
  received: ReceivedReport,
): JobTransition | null {
  const task = findRunningTask(snapshot, received.taskId, received.fence)
  if (!task) return null
  const { report, now } = received
  if (report.kind === "finished") {
    return startedBefore(snapshot, received, finishTransition(snapshot, task, report, now))
  }
  if (report.kind === "interrupted") {
    const interruption = { cause: "interruption" as const, failure: makeRunnerLostFailure() }
    return startedBefore(snapshot, received, attemptTransition(snapshot, task, interruption, now))
  }
  if (report.blame === "ours") {
    const failed = { cause: "failure" as const, failure: report.failure }
    return startedBefore(snapshot, received, attemptTransition(snapshot, task, failed, now))
  }
  const { processing_seconds } = report
  const result = toOptionalProbeResult(task, report.failure)
  if (result) {
    const finish = finishTransition(snapshot, task, { result, processing_seconds }, now)
    return startedBefore(snapshot, received, finish)
  }
  const transition = failTransition(snapshot, { task, failure: report.failure }, now)
  transition.job.processingMs = snapshot.job.processingMs + toMs(processing_seconds)
  setTask(transition, task.id, { state: "failed", completedAt: now })
  return startedBefore(snapshot, received, transition)
}

/**
 * Adds the start of the job to a transition, because the report may arrive before the dispatcher
 * has stored the start.
 */
function startedBefore(
  { job, tasks }: JobSnapshot,
  { report, now }: ReceivedReport,
  transition: JobTransition,
): JobTransition {
  const runMs = Math.max(0, toMs(report.processing_seconds))
  const startedAt = job.startedAt ?? Math.max(job.createdAt, now - runMs)
  const spent = tasks.map((task) => task.failures + task.interruptions + task.handOvers)
  const attempts = Math.max(job.attempts, 1 + Math.max(...spent))
  const started = { state: "running" as const, startedAt, attempts }
  return { ...transition, job: { ...started, ...transition.job } }
}

/**
 * Reason why the dispatcher requeues a task without a report of a failure: the run was lost, found
 * no runner, or is interrupted for another account.
 */
export type RequeueCause = Extract<AttemptFailure["cause"], "failure" | "no capacity" | "hand-over">

/**
 * Requeues a task whose run was lost, found no runner, or is interrupted for another account. Ends
 * the job if the task has failed too often. Returns null if the run is over, or if the task was
 * already interrupted once for another account.
 */
export function computeRequeueTransition(
  snapshot: JobSnapshot,
  run: { taskId: string; fence: number; cause: RequeueCause; now: number },
): JobTransition | null {
  const { cause } = run
  const task = findRunningTask(snapshot, run.taskId, run.fence)
  if (!task || (cause === "hand-over" && !mayHandOverSlot(task))) return null
  return attemptTransition(snapshot, task, { cause, failure: makeRunnerLostFailure() }, run.now)
}

/**
 * State and failure with which a job ends. `failed` is the failed task that ended the job, if any.
 */
export type JobEndStateAndFailure = {
  state: FinalState
  failure?: Failure
  failed?: FailedTask
  now: number
}

/**
 * Ends an open job: cancels its open tasks, fails its pending files, and turns intermediate results
 * of finished tasks into garbage.
 */
export function computeEndTransition(
  snapshot: JobSnapshot,
  end: JobEndStateAndFailure,
): JobTransition {
  const open = snapshot.tasks.filter((task) => !isFinalState(task.state))
  const unneeded = leftFiles(snapshot)
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
        .filter((file) => !isFinalState(file.state))
        .map((file) => ({ id: file.id, set: endedFile(snapshot, file, end) })),
      ...unneeded.map(({ id }) => ({ id, set: { objectKey: null, probeObjectKey: null } })),
    ],
    garbage: [
      ...open
        .filter((task) => task.fence > 0)
        .flatMap((task) => [
          taskPrefix(task),
          taskPrefix({ ...task, fence: RESUMABLE_UPLOAD_FENCE }),
        ]),
      ...new Set(unneeded.map(({ objectKey }) => getFileKeyPrefix(objectKey))),
    ].map((prefix) => ({ prefix })),
  }
}

/**
 * Returns the stored files that remain without use when a job ends early: finished intermediate
 * results, which are not listed among the files of the account.
 */
function leftFiles({ files }: JobSnapshot): { id: string; objectKey: string }[] {
  return files.flatMap(({ id, source, state, objectKey }) => {
    const isLeft = objectKey !== null && isFinalState(state) && !isAccountFileSource(source)
    return isLeft ? [{ id, objectKey }] : []
  })
}

/** Returns the transition that fails a job because its task failed and is not retried. */
function failTransition(snapshot: JobSnapshot, failed: FailedTask, now: number): JobTransition {
  const failure = toJobFailure(snapshot, failed.task, failed.failure)
  return computeEndTransition(snapshot, { state: "failed", failure, failed, now })
}

/**
 * Returns the time since the job's start, in milliseconds. This time counts as the processing time
 * if no runner reported a processing time.
 */
function sinceStartMs({ job }: JobSnapshot, now: number): number {
  return job.startedAt === null ? 0 : Math.max(0, now - job.startedAt)
}

/**
 * Applies the result of a finished task. The job succeeds with its last task. Until then, the
 * result of each finished task stays in the task's row.
 */
function finishTransition(
  snapshot: JobSnapshot,
  task: Task,
  report: Pick<Extract<TerminalReport, { kind: "finished" }>, "result" | "processing_seconds">,
  now: number,
): JobTransition {
  const { job, files } = snapshot
  const others = snapshot.tasks.filter((other) => other.id !== task.id)
  const isLast = others.every((other) => other.state === "succeeded")
  const done = { state: "succeeded" as const, completedAt: now }
  const earlier = others.flatMap(({ result, ...other }) =>
    other.state === "succeeded" && result ? [{ task: { ...other, result }, result }] : [],
  )
  const tasks = [...earlier, { task, result: report.result }]
  const own = tasks.filter((each) => !isImportOrProbeTask(each.task))
  const input = isImportOrProbeTask(task)
    ? computeInputColumnChanges(snapshot, { task, result: report.result }, now)
    : null
  const filesAfter = setFiles(files, input?.files ?? [])
  const finish = getKind(job.kind).finish({ job, files: filesAfter, tasks: own })
  const changes = [
    ...finish.files.map(({ id, set }) => ({ id, set: { ...done, ...set } })),
    ...(input?.files ?? []),
  ]
  const warnings = [
    ...(job.warnings ?? []),
    ...tasks.flatMap(({ result }) => result.warnings ?? []),
  ]
  const open = new Set(files.flatMap(({ id, state }) => (isFinalState(state) ? [] : [id])))
  const openChanges = changes.filter(({ id }) => open.has(id))
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
    files: isLast && job.publish ? publishFiles(snapshot, openChanges, now) : openChanges,
    garbage: unusedPrefixes(task, files, changes).map((prefix) => ({ prefix })),
    ...(finish.sameFiles && { sameFiles: finish.sameFiles }),
  }
}

/**
 * Sets `publishedAt` in the changes of the files that a job created, after its last task. The files
 * can then be read at URLs that need no key.
 */
function publishFiles(
  { job, files }: JobSnapshot,
  changes: FileColumnsAndJobResult["files"],
  now: number,
): FileColumnsAndJobResult["files"] {
  const ended = setFiles(files, changes).filter(
    ({ id, source, state }) => state === "succeeded" && (source === "output" || id === job.id),
  )
  const sets = new Map(changes.map(({ id, set }) => [id, set]))
  for (const { id } of ended) sets.set(id, { ...sets.get(id), publishedAt: now })
  return [...sets].map(([id, set]) => ({ id, set }))
}

/** Returns copies of the files with the changes applied. */
function setFiles(files: readonly File[], changes: InputColumnChanges["files"]): File[] {
  const sets = new Map(changes.map(({ id, set }) => [id, set]))
  return files.map((file) => ({ ...file, ...sets.get(file.id) }))
}

/**
 * Returns the R2 prefixes of a finished task that no file uses: the prefixes of its earlier runs.
 * If the task's file was deleted meanwhile, returns all prefixes of the task.
 */
function unusedPrefixes(
  task: Task,
  files: readonly File[],
  changes: FileColumnsAndJobResult["files"],
): string[] {
  // A task without outputs has stored nothing.
  if ((task.work.outputs ?? []).length === 0) return []
  const fileIds = new Set(files.map(({ id }) => id))
  const objectKeys = changes.flatMap(({ id, set }) =>
    fileIds.has(id) ? (set.objectKey ?? []) : [],
  )
  const unused = listAttemptKeyPrefixes(task).filter(
    (prefix) => !objectKeys.some((objectKey) => objectKey.startsWith(prefix)),
  )
  // A task that ran only once, and whose file lies under the prefix of that run, has no objects
  // under other prefixes.
  return task.fence === 1 && !unused.includes(taskPrefix(task)) ? [] : unused
}

function attemptTransition(
  snapshot: JobSnapshot,
  task: Task,
  failed: AttemptFailure,
  now: number,
): JobTransition {
  const set = computeRequeuedTaskColumns(task, failed, now)
  if (isRetryBudgetSpent({ ...task, ...set })) {
    const result = toOptionalProbeResult(task, failed.failure)
    if (result) return finishTransition(snapshot, task, { result, processing_seconds: 0 }, now)
    return failTransition(snapshot, { task, failure: failed.failure }, now)
  }
  return {
    job: {},
    tasks: [{ id: task.id, set }],
    files: [],
    garbage: [{ prefix: taskPrefix(task) }],
  }
}

function findRunningTask(snapshot: JobSnapshot, taskId: string, fence: number): Task | null {
  if (isFinalState(snapshot.job.state)) return null
  const task = snapshot.tasks.find((candidate) => candidate.id === taskId)
  return task?.state === "running" && task.fence === fence ? task : null
}

/** Returns the change of a pending file when its job ends early. */
function endedFile(snapshot: JobSnapshot, file: File, end: JobEndStateAndFailure): Partial<File> {
  const ofCaller = computeInputFileColumnsAtJobEnd(snapshot, file, {
    now: end.now,
    failed: end.failed,
  })
  if (ofCaller) return ofCaller
  return {
    state: "failed",
    completedAt: end.now,
    errorCode: end.failure?.code ?? null,
    errorMessage: end.failure?.message ?? null,
    ...(file.objectKey &&
      end.failure?.code === "probe_failed" &&
      toProbeFailureColumns(end.failure.message, end.failure.lines.join("\n"))),
  }
}

function taskPrefix(task: Pick<Task, "id" | "accountId" | "fence">): string {
  return makeAttemptKeyPrefix(task.accountId, { taskId: task.id, fence: task.fence })
}

function setTask(transition: JobTransition, id: string, set: Partial<Task>): void {
  const change = transition.tasks.find((changed) => changed.id === id)
  if (change) change.set = set
}

function toMs(seconds: number): number {
  return Math.round(seconds * 1000)
}
