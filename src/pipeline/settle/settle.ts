import type { Failure } from "../../contract/failure.ts"
import type { Report } from "../../contract/report.ts"
import { UNLISTED_KINDS } from "../../kinds/registry.ts"
import { retentionOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import type { TaskRun } from "../../rpc.ts"
import type { ReportReceipt } from "../../runner/io.ts"
import { dayOf } from "../../storage/account-limits.ts"
import { databaseOf } from "../../storage/database.ts"
import { findWaitingDelivery } from "../../storage/deliveries.ts"
import { openValueWriter } from "../../storage/large-values.ts"
import { spillTransition } from "../../storage/overflow.ts"
import type { Job } from "../../storage/schema/jobs.ts"
import { isFinal } from "../../storage/schema/states.ts"
import type { FinalState } from "../../storage/schema/states.ts"
import { applyTransition, readSnapshot } from "../../storage/transitions.ts"
import type { JobSnapshot, Transition } from "../../storage/transitions.ts"
import type { CountedEnd } from "../../storage/usage.ts"
import { hydrateSnapshot } from "../../storage/hydrate.ts"
import { abandonValues } from "../uploads/abandon.ts"
import { enqueueDelivery, makeEndDelivery } from "../webhooks/outbox.ts"
import { keepLog } from "./keep-log.ts"
import { dispatcherOf } from "../../placement.ts"
import { noteEnd } from "./note-end.ts"
import { jobFailure } from "./input-failures.ts"
import { endTransition, readReport, reportTransition } from "./transitions.ts"
import type { TerminalReport } from "./transitions.ts"

const TRIES_MAX = 10

/** Receives what a runner reports of a run of a task. */
export async function receiveReport(
  env: Env,
  run: TaskRun,
  report: Report,
): Promise<ReportReceipt> {
  const dispatcher = dispatcherOf(env, run.accountId)
  const { accountId, jobId, taskId, fence } = run
  if (report.kind === "started" || report.kind === "progress") {
    const progress =
      report.kind === "progress"
        ? { percent: report.percent, etaSeconds: report.eta_seconds, detail: report.detail }
        : undefined
    const heartbeat = { taskId, fence, boot: report.boot, progress }
    return (await dispatcher.renewLease(accountId, jobId, heartbeat)) ? "ok" : "gone"
  }
  const { outcome, taskIds, isOver } = await settle(env, run, report)
  if (outcome === "invalid") return "invalid"
  // Also where the report no longer counts: the dispatcher may have missed the call before.
  await dispatcher.tasksEnded(accountId, [taskId], false, isOver)
  const others = taskIds.filter((id) => id !== taskId)
  // Those of them that ended with the job may run.
  if (others.length > 0) await dispatcher.tasksEnded(accountId, others, true)
  return outcome === "stale" ? "gone" : "ok"
}

/**
 * `repeated`: the report ended the task before and was received again. `invalid`: its result is not
 * one of its task's kind, and nothing has changed.
 */
export type Settled = "settled" | "repeated" | "stale" | "invalid"

type JobId = { accountId: string; jobId: string }

/**
 * Settles a task by its runner's last report, once, whatever races with it. `taskIds` are those of its
 * job; `isOver` where it settled the task for good, as a requeued one is not.
 */
export async function settle(
  env: Env,
  run: TaskRun,
  report: TerminalReport,
): Promise<{ outcome: Settled; taskIds: string[]; isOver: boolean }> {
  const { taskId, fence } = run
  const received = { taskId, fence, report, now: Date.now() }
  let isInvalid = false
  let isOver = false
  const claimed = await claimedJob(env, run)
  const { applied, taskIds, snapshot } = await transitionJob(
    env,
    run,
    (read) => {
      const counting = readReport(read, received)
      isInvalid = counting === null
      const transition = counting && keepLog(read, counting, reportTransition(read, counting))
      const set = transition?.tasks.find(({ id }) => id === taskId)?.set
      isOver = set?.state !== undefined && isFinal(set.state)
      return transition
    },
    { claimed },
  )
  if (isInvalid) return { outcome: "invalid", taskIds: [], isOver: false }
  if (applied) return { outcome: "settled", taskIds, isOver }
  isOver = false
  if (!snapshot || !wasEndedBy(snapshot, run, report)) return { outcome: "stale", taskIds, isOver }
  const waiting = await findWaitingDelivery(databaseOf(env, run.accountId), run.jobId)
  if (waiting) await enqueueDelivery(env, { accountId: run.accountId, deliveryId: waiting })
  return { outcome: "repeated", taskIds, isOver }
}

/**
 * Ends a job that is still open, for a reason of ours, which may be one of a task of it; the ids of its
 * tasks, none if it was over.
 */
export async function endJob(
  env: Env,
  job: JobId,
  { state, ...end }: { state: FinalState; failure: Failure; taskId?: string },
): Promise<string[]> {
  function compute(snapshot: JobSnapshot): Transition | null {
    if (isFinal(snapshot.job.state)) return null
    const task = snapshot.tasks.find(({ id }) => id === end.taskId)
    const failure = task ? jobFailure(snapshot, task, end.failure) : end.failure
    return endTransition(snapshot, { state, failure, now: Date.now() })
  }
  const { applied, taskIds } = await transitionJob(env, job, compute, { needsValues: false })
  return applied ? taskIds : []
}

/**
 * Reads, computes and writes until nobody else wrote in between; `applied` is false where the
 * transition is null. One that does not need large values is made of rows where R2 does not answer.
 * What a claim found is read first, where it is given: it is written only if nothing has changed since.
 */
export async function transitionJob(
  env: Env,
  { accountId, jobId }: JobId,
  compute: (snapshot: JobSnapshot) => Transition | null,
  {
    needsValues = true,
    claimed = null,
  }: { needsValues?: boolean; claimed?: JobSnapshot | null } = {},
): Promise<{ applied: boolean; taskIds: string[]; snapshot: JobSnapshot | null }> {
  const database = databaseOf(env, accountId)
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const known = tries === 0 ? claimed : null
    const read = known ?? (await readSnapshot(database, jobId))
    const snapshot = read && (await readValues(env, read, needsValues))
    const taskIds = snapshot?.tasks.map((task) => task.id) ?? []
    const computed = snapshot && compute(snapshot)
    // It may be for what has changed that nothing comes of it.
    if (known && !computed) continue
    if (!snapshot || !computed) return { applied: false, taskIds, snapshot }
    const retention = retentionOf(env)
    const { now } = retention
    if (endsEarly(computed)) computed.job.progress = await percentOf(env, { accountId, jobId })
    const delivery = makeEndDelivery(snapshot, computed, retention)
    const { version } = snapshot.job
    const writer = openValueWriter(env.MEDIA, database)
    const ended = endOf(snapshot.job, computed, now)
    const told = { ...computed, ...(delivery && { delivery }), ...(ended && { ended }) }
    const transition = await spillTransition(writer, read, told)
    if (await applyTransition(database, { jobId, version, transition, now })) {
      if (delivery) await enqueueDelivery(env, { accountId, deliveryId: delivery.id })
      noteEnd(env, snapshot, transition)
      return { applied: true, taskIds, snapshot }
    }
    await abandonValues(env, writer)
  }
  throw new Error(`job ${jobId} was changed by others ${TRIES_MAX} times in a row`)
}

/** The job as the claim of a run found it; null where that is not known. */
async function claimedJob(env: Env, run: TaskRun): Promise<JobSnapshot | null> {
  try {
    return await dispatcherOf(env, run.accountId).claimedJob(run.taskId)
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

/** What a job's end adds to the use of its account; null where it goes on, or is the service's own. */
function endOf(before: Job, { job }: Transition, now: number): CountedEnd | null {
  if (!job.state || !isFinal(job.state) || UNLISTED_KINDS.includes(before.kind)) return null
  const processingMs = job.processingMs ?? before.processingMs
  const isSucceeded = job.state === "succeeded"
  return { day: dayOf(now), keyId: before.keyId, isSucceeded, processingMs }
}

function endsEarly({ job }: Transition): boolean {
  return job.state === "failed" || job.state === "canceled"
}

/** How far a job was; null where its dispatcher cannot be reached. */
async function percentOf(env: Env, { accountId, jobId }: JobId): Promise<number | null> {
  try {
    const progress = await dispatcherOf(env, accountId).progressOfJobs([jobId])
    return progress.get(jobId)?.percent ?? null
  } catch {
    return null
  }
}

function wasEndedBy(snapshot: JobSnapshot, run: TaskRun, report: TerminalReport): boolean {
  const task = snapshot.tasks.find((known) => known.id === run.taskId)
  if (!task || task.fence !== run.fence) return false
  return task.state === (report.kind === "finished" ? "succeeded" : "failed")
}
