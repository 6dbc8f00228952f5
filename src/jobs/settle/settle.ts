import type { Failure } from "../../contract/failure.ts"
import type { Report } from "../../contract/report.ts"
import { INTERNAL_KIND_NAMES } from "../../kinds/registry.ts"
import { getRetention } from "../../bindings/env.ts"
import type { Env } from "../../bindings/env.ts"
import { logError, log } from "../../platform/log.ts"
import type { TaskRun } from "../../bindings/rpc.ts"
import type { ReportOutcome } from "../../runner/io.ts"
import { formatUtcDay } from "../../db/accounts/account-limits.ts"
import { openAccountDatabases } from "../../db/database.ts"
import { listWaitingDeliveries } from "../../db/deliveries.ts"
import { createLargeValueWriter } from "../../db/values/large-values.ts"
import { spillTransitionToR2 } from "../../db/values/overflow.ts"
import type { Job } from "../../db/schema/jobs.ts"
import { isFinalState } from "../../domain/states.ts"
import type { FinalState } from "../../domain/states.ts"
import { applyJobTransition, readJobSnapshot } from "../../db/jobs/apply-transition.ts"
import type { JobTransition } from "../../db/jobs/apply-transition.ts"
import type { JobSnapshot } from "../../domain/snapshot.ts"
import type { JobEndUsage } from "../../db/accounts/usage.ts"
import { hydrateSnapshot } from "../../db/values/hydrate.ts"
import { abandonLargeValues } from "../../objects/abandon-upload.ts"
import { makeBatchReceivers } from "../../webhooks/batch-event.ts"
import { enqueueDelivery, makeJobEndDeliveries } from "../../webhooks/outbox.ts"
import { getDispatcher } from "../../bindings/durable-objects.ts"
import { toJobFailure } from "./input-failures.ts"
import { computeEndTransition, validateReport, computeReportTransition } from "./transitions.ts"
import type { TerminalReport, ReceivedReport } from "./transitions.ts"
import { countMetricEvent } from "../../bindings/metrics.ts"

const TRIES_MAX = 10

/**
 * Handles a report of a runner. Renews the lease of the run, or settles the task if the report is
 * the last one of the run.
 */
export async function handleRunnerReport(
  env: Env,
  run: TaskRun,
  report: Report,
): Promise<ReportOutcome> {
  const dispatcher = getDispatcher(env, run.accountId)
  const { accountId, jobId, taskId, fence } = run
  if (report.kind === "started" || report.kind === "progress") {
    const progress =
      report.kind === "progress"
        ? { percent: report.percent, etaSeconds: report.eta_seconds, detail: report.detail }
        : undefined
    const heartbeat = { taskId, fence, boot: report.boot, progress }
    return (await dispatcher.renewLease(accountId, jobId, heartbeat)) ? "ok" : "gone"
  }
  const { outcome, taskIds, isOver } = await settleTask(env, run, report)
  if (outcome === "invalid") return "invalid"
  // Tells the dispatcher that the task ended even if the report is stale, because the call after an
  // earlier report may have been lost.
  await dispatcher.tasksEnded(accountId, [taskId], false, isOver)
  const others = taskIds.filter((id) => id !== taskId)
  // Kills the job's other tasks, which ended with the job in D1 but may still run.
  if (others.length > 0) await dispatcher.tasksEnded(accountId, others, true)
  return outcome === "stale" ? "gone" : "ok"
}

/**
 * Outcome of a run's last report. `repeated`: the report had already settled the task. `stale`: the
 * run no longer counts. `invalid`: the result does not match the kind of the task, and nothing
 * changed.
 */
export type SettleOutcome = "settled" | "repeated" | "stale" | "invalid"

type JobId = { accountId: string; jobId: string }

/**
 * Settles a task by the last report of its run, exactly once even if reports arrive concurrently.
 * `taskIds` are all tasks of the job. `isOver` is true if the task has ended, and false for a
 * requeued task.
 */
export async function settleTask(
  env: Env,
  run: TaskRun,
  report: TerminalReport,
): Promise<{ outcome: SettleOutcome; taskIds: string[]; isOver: boolean }> {
  const { taskId, fence } = run
  const received = { taskId, fence, report, now: Date.now() }
  let isInvalid = false
  let isOver = false
  const claimed = await claimedJob(env, run)
  const { applied, taskIds, snapshot } = await transitionJob(
    env,
    run,
    (read) => {
      const counting = validateReport(read, received)
      isInvalid = counting === null
      const transition =
        counting && keepLog(read, counting, computeReportTransition(read, counting))
      const set = transition?.tasks.find(({ id }) => id === taskId)?.set
      isOver = set?.state !== undefined && isFinalState(set.state)
      return transition
    },
    { claimed },
  )
  if (isInvalid) return { outcome: "invalid", taskIds: [], isOver: false }
  if (applied) return { outcome: "settled", taskIds, isOver }
  isOver = false
  if (!snapshot || !wasEndedBy(snapshot, run, report)) return { outcome: "stale", taskIds, isOver }
  const waiting = await listWaitingDeliveries(openAccountDatabases(env, run.accountId), run.jobId)
  await enqueueAll(env, run.accountId, waiting)
  return { outcome: "repeated", taskIds, isOver }
}

/**
 * Ends an open job with a failure that the service determined. The failure may concern the task
 * `taskId`. Returns the ids of the job's tasks. Returns an empty list if the job was already over.
 */
export async function endOpenJob(
  env: Env,
  job: JobId,
  { state, ...end }: { state: FinalState; failure: Failure; taskId?: string },
): Promise<string[]> {
  function compute(snapshot: JobSnapshot): JobTransition | null {
    if (isFinalState(snapshot.job.state)) return null
    const task = snapshot.tasks.find(({ id }) => id === end.taskId)
    const failure = task ? toJobFailure(snapshot, task, end.failure) : end.failure
    return computeEndTransition(snapshot, { state, failure, now: Date.now() })
  }
  const { applied, taskIds } = await transitionJob(env, job, compute, { needsValues: false })
  return applied ? taskIds : []
}

/**
 * Reads a job, computes a transition and writes the transition. Repeats these steps if another
 * write changed the job meanwhile. `applied` is false if `compute` returned null. With
 * `needsValues: false`, goes on without the job's large values if R2 cannot be read. `claimed`, the
 * snapshot cached when the task was claimed, replaces the first read; a transition computed from
 * `claimed` is written only if the job has not changed since.
 */
export async function transitionJob(
  env: Env,
  { accountId, jobId }: JobId,
  compute: (snapshot: JobSnapshot) => JobTransition | null,
  {
    needsValues = true,
    claimed = null,
  }: { needsValues?: boolean; claimed?: JobSnapshot | null } = {},
): Promise<{ applied: boolean; taskIds: string[]; snapshot: JobSnapshot | null }> {
  const database = openAccountDatabases(env, accountId)
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const cached = tries === 0 ? claimed : null
    const read = cached ?? (await readJobSnapshot(database, jobId))
    const snapshot = read && (await readValues(env, read, needsValues))
    const taskIds = snapshot?.tasks.map((task) => task.id) ?? []
    const computed = snapshot && compute(snapshot)
    // Reads the job again from D1: a null transition may only mean that the cached snapshot is
    // outdated.
    if (cached && !computed) continue
    if (!snapshot || !computed) return { applied: false, taskIds, snapshot }
    const retention = getRetention(env)
    const { now } = retention
    if (endsEarly(computed)) computed.job.progress = await readPercent(env, { accountId, jobId })
    const deliveries = makeJobEndDeliveries(snapshot, computed, retention)
    const { version } = snapshot.job
    const { endpoints } = snapshot
    const writer = createLargeValueWriter(env.MEDIA, database)
    const jobEnd = computeJobEndUsage(snapshot.job, computed, now)
    const batch = computeBatchEnd(snapshot, computed, now)
    const ends = { ...(jobEnd && { ended: jobEnd }), ...(batch && { batch }) }
    const complete = { ...computed, deliveries, ...ends }
    const transition = await spillTransitionToR2(writer, read, complete)
    const change = { jobId, version, endpoints, transition, now }
    const { isApplied, isBatchOver } = await applyJobTransition(database, change)
    if (isApplied) {
      const ofBatch = isBatchOver ? (batch?.receivers ?? []) : []
      await enqueueAll(env, accountId, [
        ...deliveries.map(({ id }) => id),
        ...ofBatch.map(({ deliveryId }) => deliveryId),
      ])
      recordJobEnd(env, snapshot, transition)
      return { applied: true, taskIds, snapshot }
    }
    await abandonLargeValues(env, writer)
  }
  throw new Error(`other writers changed job ${jobId} ${TRIES_MAX} times in a row`)
}

async function enqueueAll(env: Env, accountId: string, deliveryIds: string[]): Promise<void> {
  await Promise.all(
    deliveryIds.map((deliveryId) => enqueueDelivery(env, { accountId, deliveryId })),
  )
}

/**
 * Returns the job's snapshot that the dispatcher cached when the task was claimed, or null if the
 * dispatcher no longer has the snapshot.
 */
async function claimedJob(env: Env, run: TaskRun): Promise<JobSnapshot | null> {
  try {
    return await getDispatcher(env, run.accountId).claimedJob(run.taskId)
  } catch (error) {
    logError("settle.dispatcher_lost", { job_id: run.jobId, error: String(error) })
    return null
  }
}

async function readValues(env: Env, read: JobSnapshot, areNeeded: boolean): Promise<JobSnapshot> {
  try {
    return await hydrateSnapshot(env.MEDIA, read)
  } catch (error) {
    if (areNeeded) throw error
    logError("settle.values_not_read", { job_id: read.job.id, error: String(error) })
    return read
  }
}

/**
 * Returns the usage that the end of a job adds to its account. Returns null if the job does not
 * end, or if its kind is unlisted.
 */
function computeJobEndUsage(before: Job, { job }: JobTransition, now: number): JobEndUsage | null {
  if (!job.state || !isFinalState(job.state) || INTERNAL_KIND_NAMES.includes(before.kind))
    return null
  const processingMs = job.processingMs ?? before.processingMs
  const isSucceeded = job.state === "succeeded"
  return { day: formatUtcDay(now), keyId: before.keyId, isSucceeded, processingMs }
}

/**
 * Returns the update of a batch for a job that ends; null if the job does not end or belongs to no
 * batch.
 */
function computeBatchEnd(
  { job, endpoints }: JobSnapshot,
  { job: { state } }: JobTransition,
  now: number,
): JobTransition["batch"] | null {
  if (job.batchId === null || !state || !isFinalState(state)) return null
  const end = { batchId: job.batchId, isSucceeded: state === "succeeded", now }
  return { end, receivers: makeBatchReceivers(endpoints) }
}

function endsEarly({ job }: JobTransition): boolean {
  return job.state === "failed" || job.state === "canceled"
}

/**
 * Returns a job's last known progress in percent. Returns null if the progress is unknown or the
 * dispatcher cannot be reached.
 */
async function readPercent(env: Env, { accountId, jobId }: JobId): Promise<number | null> {
  try {
    const progress = await getDispatcher(env, accountId).progressOfJobs([jobId])
    return progress.get(jobId)?.percent ?? null
  } catch {
    return null
  }
}

function wasEndedBy(snapshot: JobSnapshot, run: TaskRun, report: TerminalReport): boolean {
  const task = snapshot.tasks.find((candidate) => candidate.id === run.taskId)
  if (!task || task.fence !== run.fence) return false
  return task.state === (report.kind === "finished" ? "succeeded" : "failed")
}

/**
 * Adds the tools' log of a report to the task that the report ends. If the job ends too, its result
 * gets `hasLog` and the text of standard output.
 */
function keepLog(
  { tasks }: JobSnapshot,
  { taskId, report }: ReceivedReport,
  transition: JobTransition | null,
): JobTransition | null {
  const { log, stdout } = report.kind === "interrupted" ? NOTHING_PRINTED : report
  const set = transition?.tasks.find(({ id }) => id === taskId)?.set
  const kind = tasks.find(({ id }) => id === taskId)?.work.kind
  if (!transition || log === undefined || kind === undefined) return transition
  if (!set?.state || !isFinalState(set.state)) return transition
  const result = { ...(set.result ?? { kind }), log }
  const { job } = transition
  const isOver = job.state !== undefined && isFinalState(job.state)
  const printed = { hasLog: true, ...(stdout !== undefined && { stdout }) }
  return {
    ...transition,
    ...(isOver && { job: { ...job, result: { outputs: [], ...job.result, ...printed } } }),
    tasks: transition.tasks.map((each) =>
      each.id === taskId ? { id: taskId, set: { ...set, result } } : each,
    ),
  }
}

const NOTHING_PRINTED = { log: undefined, stdout: undefined }

/**
 * Logs the end of a job and counts the end in the metrics, if a written transition ends the job.
 */
function recordJobEnd(env: Env, before: JobSnapshot, transition: JobTransition): void {
  const job = { ...before.job, ...transition.job }
  const { state, kind, createdAt, startedAt, completedAt } = job
  if (!isFinalState(state)) return
  const endedAt = completedAt ?? Date.now()
  const waitMs = Math.max(0, (startedAt ?? endedAt) - createdAt)
  const runMs = startedAt === null ? null : Math.max(0, endedAt - startedAt)
  const errorCode = job.errorCode ?? null
  log("info", "job.ended", {
    request_id: job.requestId,
    account_id: job.accountId,
    key_id: job.keyId,
    job_id: job.id,
    kind,
    state,
    error_code: errorCode,
    attempts: job.attempts,
    wait_ms: waitMs,
    run_ms: runMs,
    processing_ms: job.processingMs,
  })
  countMetricEvent(env, { event: "job", kind, state, errorCode, waitMs, runMs })
}
