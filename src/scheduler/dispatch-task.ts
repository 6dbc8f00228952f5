import type { Failure } from "../contract/failure.ts"
import { makeWorkspaceInputName } from "../contract/task.ts"
import type { TaskOrder, TaskSecrets, TaskWork } from "../contract/task.ts"
import { getSettings } from "../bindings/env.ts"
import { computeEffectiveLimits } from "../bindings/plan-limits.ts"
import type { Env } from "../bindings/env.ts"
import { isImportOrProbeTask } from "../kinds/finish-inputs.ts"
import { findTaskDefinition } from "../kinds/registry.ts"
import { log, logError } from "../platform/log.ts"
import type { AssignedPlan } from "../domain/plans.ts"
import { killTask, makeTaskIoUrl, postTask } from "../runner/client.ts"
import { makeTaskToken } from "../runner/task-token.ts"
import { openAccountDatabases } from "../db/database.ts"
import { decryptTaskSecrets } from "../db/jobs/task-secrets.ts"
import { claimTask, getTaskOutputKeys } from "../db/jobs/tasks.ts"
import type { ClaimedTask } from "../db/jobs/tasks.ts"
import { hydrateTask } from "../db/values/hydrate.ts"
import { describeOversizedInputs, findInputBytesLimit } from "../jobs/input-bytes-limit.ts"
import { findArrivedInputFailure } from "../jobs/arrived-inputs.ts"
import { makeLostInputsFailure } from "../jobs/settle/input-failures.ts"
import { endOpenJob } from "../jobs/settle/settle.ts"
import type { JobWriteBuffer } from "./job-write-buffer.ts"
import type { TaskQueue } from "./queue.ts"
import {
  isTaskBeingDispatched,
  mayRunnerHaveTask,
  copyTaskAsPosting,
  copyTaskAsRunning,
} from "./queued-task.ts"
import type { QueuedTask } from "./queued-task.ts"

/**
 * Time for which a dispatch retries its post to the runner, in milliseconds. Afterwards the task is
 * requeued, which does not count as a failed attempt.
 */
const POST_MS_MAX = 120_000
/**
 * Time for which a dispatch retries its post to a runner whose disk is full, in milliseconds. This
 * time is short, because a smaller task may fit the slot meanwhile.
 */
const FULL_MS_MAX = 10_000
/**
 * Maximum number of tries of a claim. If an invocation has used up its D1 statements, the next
 * alarm repeats the dispatch in a new invocation.
 */
const CLAIM_TRIES_MAX = 6

const RETRY_MS = 200
/**
 * Longest wait between posts, in milliseconds. Cloudflare refuses frequent requests for a container
 * while no container is available.
 */
const RETRY_MS_MAX = 10_000

/**
 * Outcome of a dispatch. `running`: a runner has the task. `gone`: the task is over, or its job was
 * ended because the task cannot start. `no capacity`: the runner did not accept the task in time.
 * `superseded`: the task got another allocation meanwhile, or left the queue.
 */
export type DispatchOutcome = "running" | "gone" | "no capacity" | "superseded"

/**
 * Function that returns the current queue entry of the task, or null if another dispatch has the
 * task now.
 */
type FindOwn = () => QueuedTask | null

/**
 * Claims a task that has a slot, and posts it to the slot's runner. Every step is idempotent, so
 * that a dispatch that died can be repeated.
 */
export async function dispatchTask(
  env: Env,
  { queue, notes }: { queue: TaskQueue; notes: Pick<JobWriteBuffer, "keepClaim"> },
  accountId: string,
  { id: taskId, jobId, allocation }: QueuedTask,
): Promise<DispatchOutcome> {
  function findOwn(): QueuedTask | null {
    const task = queue.find(taskId)
    return task !== null && task.allocation === allocation ? task : null
  }
  const claimed = await claim(env, accountId, findOwn)
  const task = findOwn()
  if (!claimed) return task ? "gone" : "superseded"
  if (!task) return "superseded"
  const { secrets, loss } = await readSecrets(env, claimed)
  const failure = loss ?? goneFailure(claimed) ?? (await findInputFailure(env, claimed))
  if (failure) {
    await endOpenJob(env, { accountId, jobId }, { state: "failed", failure, taskId })
    return "gone"
  }
  const { fence } = claimed.task
  notes.keepClaim(taskId, claimed.snapshot)
  queue.hold(copyTaskAsPosting(task, fence))
  logDispatch(claimed)
  return await post(env, queue, await makeOrder(env, claimed, secrets), () => {
    const own = findOwn()
    return own?.fence === fence ? own : null
  })
}

function logDispatch({ task, snapshot }: ClaimedTask): void {
  const { id, jobId, accountId, fence, slot, work, createdAt, requeuedAt } = task
  log("info", "task.dispatched", {
    request_id: snapshot.job.requestId,
    account_id: accountId,
    job_id: jobId,
    task_id: id,
    fence,
    kind: work.kind,
    slot,
    wait_ms: Date.now() - (requeuedAt ?? createdAt),
  })
}

/** Decrypts the secrets of a task. Returns a failure as `loss` if they cannot be decrypted. */
async function readSecrets(
  env: Env,
  { task, sealedSecrets }: ClaimedTask,
): Promise<{ secrets: TaskSecrets | null; loss: Failure | null }> {
  if (sealedSecrets === null) return { secrets: null, loss: null }
  const secrets = await decryptTaskSecrets(getSettings(env).LATHE_SECRET, task.id, sealedSecrets)
  if (secrets) return { secrets, loss: null }
  logError("task.secrets_lost", { job_id: task.jobId, task_id: task.id })
  return { secrets: null, loss: SECRETS_LOST }
}

const SECRETS_LOST: Failure = {
  code: "secrets_lost",
  message:
    "The job could not start: its cookies or headers can no longer be decrypted, because the secret of the service was replaced. Send the request again.",
  lines: [],
}

/**
 * Returns a failure if an input file of the task was deleted while the task waited for a slot;
 * otherwise null.
 */
function goneFailure({ inputs }: ClaimedTask): Failure | null {
  return makeLostInputsFailure(
    inputs.flatMap(({ key, file }) => (file ? [] : [{ key, failure: null, neededJobId: null }])),
  )
}

/**
 * Returns a failure if the stored inputs of a task are too large or do not fit the request of its
 * job; otherwise null.
 */
async function findInputFailure(env: Env, claimed: ClaimedTask): Promise<Failure | null> {
  const failures = await Promise.all([
    sizeFailure(env, claimed),
    findArrivedInputFailure(env, claimed),
  ])
  return failures.find((failure) => failure !== null) ?? null
}

/**
 * Returns a failure if the task's inputs are too large, and some of their sizes were unknown when
 * the job was created; otherwise null.
 */
async function sizeFailure(
  env: Env,
  { task, inputs, plan, snapshot }: ClaimedTask,
): Promise<Failure | null> {
  const files = inputs.flatMap(({ file }) => file ?? [])
  const isAnyBroughtIn = files.some(({ source }) => source === "import" || source === "fetch")
  const isAnyNew = isAnyBroughtIn || snapshot.job.waitingFor !== null
  if (plan === null || !isAnyNew || isImportOrProbeTask(task)) return null
  const limits = computeEffectiveLimits(plan, getSettings(env))
  const room = await findInputBytesLimit(env, limits, [task.pool])
  const why = describeOversizedInputs(
    new Map(files.map(({ id, sizeBytes }) => [id, sizeBytes])),
    room,
  )
  if (why === null) return null
  return { code: "inputs_too_large", message: `The job could not start: ${why}.`, lines: [] }
}

/** Claims the task in D1. Throws if D1 fails for some seconds. The dispatch is then repeated. */
async function claim(env: Env, accountId: string, findOwn: FindOwn): Promise<ClaimedTask | null> {
  for (let tries = 1; ; tries += 1) {
    const task = findOwn()
    if (!task || task.slot === null || task.allocation === null) return null
    const { id: taskId, jobId, slot, allocation } = task
    try {
      const dispatch = { taskId, jobId, slot, allocation, now: Date.now() }
      return await claimTask(openAccountDatabases(env, accountId), dispatch)
    } catch (error) {
      logError("dispatch.claim_failed", { error: String(error) })
      if (tries === CLAIM_TRIES_MAX) throw error
      await scheduler.wait(computePostRetryWaitMs(tries))
    }
  }
}

async function post(
  env: Env,
  queue: TaskQueue,
  order: TaskOrder,
  findOwn: FindOwn,
): Promise<DispatchOutcome> {
  const startedAt = Date.now()
  for (let tries = 1; ; tries += 1) {
    const task = findOwn()
    if (!task || !isTaskBeingDispatched(task))
      return task && mayRunnerHaveTask(task) ? "running" : "superseded"
    const result = await postTask(env, order)
    const posted = findOwn()
    if (!posted) {
      // Kills the run that was just posted, because the task left the queue or belongs to another
      // dispatch by now. An earlier kill that arrived before the post had no effect.
      if (!("refused" in result)) await killTask(env, { ...order, taskId: order.task_id })
      return "superseded"
    }
    if ("accepted" in result) {
      // Changes nothing if a heartbeat of the run came before this response: the task is then
      // recorded as running, with a lease that counts from the heartbeat.
      if (isTaskBeingDispatched(posted))
        queue.hold(copyTaskAsRunning(posted, result.accepted, Date.now()))
      return "running"
    }
    const patienceMs = "full" in result ? FULL_MS_MAX : POST_MS_MAX
    // Compares the absolute difference, because a clock that was set back would otherwise prolong
    // the retries.
    if (Math.abs(Date.now() - startedAt) > patienceMs) return "no capacity"
    await scheduler.wait(computePostRetryWaitMs(tries))
  }
}

/**
 * Returns the wait after the n-th try, in milliseconds. The wait doubles with each try. Jitter
 * shortens it by up to half, so that tasks that failed at the same time do not retry at the same
 * time.
 */
export function computePostRetryWaitMs(tries: number, random: number = Math.random()): number {
  return Math.min(RETRY_MS * 2 ** (tries - 1), RETRY_MS_MAX) * (1 - random / 2)
}

async function makeOrder(
  env: Env,
  { task, inputs, plan, snapshot, claimedAt }: ClaimedTask,
  secrets: TaskSecrets | null,
): Promise<TaskOrder> {
  const { id: taskId, jobId, accountId, fence } = task
  const { requestId } = snapshot.job
  const { work } = await hydrateTask(env.MEDIA, task)
  const run = { accountId, jobId, taskId, fence }
  const objects = inputs.flatMap(({ key, objectKey }) => {
    return objectKey === null ? [] : [[key, objectKey] as const]
  })
  const grant = {
    at: claimedAt,
    inputs: Object.fromEntries(objects),
    outputs: getTaskOutputKeys(work),
  }
  const token = await makeTaskToken(getSettings(env).LATHE_SECRET, run, grant)
  return {
    task_id: taskId,
    job_id: jobId,
    account_id: accountId,
    ...(requestId !== null && { request_id: requestId }),
    fence,
    slot: task.slot ?? "",
    allocation: task.allocation ?? 0,
    io: { origin: makeTaskIoUrl(env, taskId), token },
    inputs: inputs.map(({ key, file }) => ({
      key,
      name: makeWorkspaceInputName(key, file?.name ?? ""),
      ...(file && { file_id: file.id }),
      size_bytes: file?.sizeBytes ?? 0,
      ...(file && file.contentType !== null && { content_type: file.contentType }),
      ...(file?.probe?.duration !== undefined && { duration_seconds: file.probe.duration }),
    })),
    work: plan ? limitRun(env, work, plan) : work,
    ...(plan && { plan: plan.plan }),
    ...(secrets && { secrets }),
  }
}

/**
 * Sets the time and size limits of a run. The account's plan at the time of the claim counts, and
 * not the plan at the creation of the job.
 */
function limitRun(env: Env, work: TaskWork, plan: AssignedPlan): TaskWork {
  const { runSecondsMax, fileBytesMax } = computeEffectiveLimits(plan, getSettings(env))
  const { runSecondsMin = 0, hasOwnTimeLimit } = findTaskDefinition(work.kind) ?? {}
  const ownMax = hasOwnTimeLimit ? (work.run_seconds_max ?? Infinity) : Infinity
  const run_seconds_max = Math.min(Math.max(runSecondsMax, runSecondsMin), ownMax)
  return {
    ...work,
    ...(work.run_seconds_max !== undefined && { run_seconds_max }),
    ...(work.bytes_max !== undefined && { bytes_max: fileBytesMax }),
  }
}
