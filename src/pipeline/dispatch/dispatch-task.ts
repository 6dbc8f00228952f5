import type { Failure } from "../../contract/failure.ts"
import { inputName } from "../../contract/task.ts"
import type { TaskOrder, TaskSecrets, TaskWork } from "../../contract/task.ts"
import { limitsOf, settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { isOfInput } from "../../kinds/finish-inputs.ts"
import { findTaskDefinition, poolOfTask } from "../../kinds/registry.ts"
import { log, logError } from "../../log.ts"
import type { HeldPlan } from "../../plans.ts"
import { deleteTask, ioOrigin, postTask } from "../../runner/client.ts"
import { makeTaskToken } from "../../runner/token.ts"
import { databaseOf } from "../../storage/database.ts"
import { openSecrets } from "../../storage/task-secrets.ts"
import { claimTask, outputKeysOf } from "../../storage/tasks.ts"
import type { ClaimedTask } from "../../storage/tasks.ts"
import { hydrateTask } from "../../storage/hydrate.ts"
import { describeOversize, findInputRoom } from "../jobs/input-room.ts"
import { lostInputsFailure } from "../settle/input-failures.ts"
import { endJob } from "../settle/settle.ts"
import type { JobNotes } from "./job-notes.ts"
import type { TaskQueue } from "./queue.ts"
import { isDispatching, isPosted, postingTask, runningTask } from "./queued-task.ts"
import type { QueuedTask } from "./queued-task.ts"

/** A task that no runner took by then waits again; being refused costs none of its budgets. */
const POST_MS_MAX = 120_000
/** A full disk gets room when another task ends; meanwhile the slot may suit a smaller one. */
const FULL_MS_MAX = 10_000
/** An invocation that has used up its statements of D1 gets no more; the next alarm's has new ones. */
const CLAIM_TRIES_MAX = 6

const RETRY_MS = 200
/** A platform that has no container to give refuses those who ask it too often. */
const RETRY_MS_MAX = 10_000

/** `superseded`: the task got another allocation meanwhile, or left the queue. */
export type DispatchOutcome = "running" | "gone" | "no capacity" | "superseded"

/** Reads a queued task again; null once it is no longer that of this dispatch. */
type FindOwn = () => QueuedTask | null

/**
 * Claims a task that got a slot and hands it to the slot's runner. Every step is idempotent, so a
 * dispatch that died is simply made again.
 */
export async function dispatchTask(
  env: Env,
  { queue, notes }: { queue: TaskQueue; notes: Pick<JobNotes, "keepClaim"> },
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
  const failure = loss ?? goneFailure(claimed) ?? (await sizeFailure(env, claimed))
  if (failure) {
    await endJob(env, { accountId, jobId }, { state: "failed", failure, taskId })
    return "gone"
  }
  const { fence } = claimed.task
  notes.keepClaim(taskId, claimed.snapshot)
  queue.hold(postingTask(task, fence))
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

/** The secrets of a task, or why it cannot start without them. */
async function readSecrets(
  env: Env,
  { task, sealedSecrets }: ClaimedTask,
): Promise<{ secrets: TaskSecrets | null; loss: Failure | null }> {
  if (sealedSecrets === null) return { secrets: null, loss: null }
  const secrets = await openSecrets(settingsOf(env).LATHE_SECRET, task.id, sealedSecrets)
  if (secrets) return { secrets, loss: null }
  logError("task.secrets_lost", { job_id: task.jobId, task_id: task.id })
  return { secrets: null, loss: SECRETS_LOST }
}

const SECRETS_LOST: Failure = {
  code: "secrets_lost",
  message:
    "It could not start: the cookies that came with it can no longer be read, since this service has another secret than it had then; send the request again.",
  lines: [],
}

/** Why a task cannot start whose files were deleted since it was ready. */
function goneFailure({ inputs }: ClaimedTask): Failure | null {
  return lostInputsFailure(
    inputs.flatMap(({ key, file }) => (file ? [] : [{ key, failure: null }])),
  )
}

/** Why a task cannot start of which an input turned out too large when its job brought it in. */
async function sizeFailure(env: Env, { task, inputs, plan }: ClaimedTask): Promise<Failure | null> {
  const files = inputs.flatMap(({ file }) => file ?? [])
  const isAnyBroughtIn = files.some(({ source }) => source === "import" || source === "fetch")
  if (plan === null || !isAnyBroughtIn || isOfInput(task)) return null
  const room = await findInputRoom(env, limitsOf(plan, settingsOf(env)), [poolOfTask(task)])
  const why = describeOversize(new Map(files.map(({ id, sizeBytes }) => [id, sizeBytes])), room)
  if (why === null) return null
  return { code: "inputs_too_large", message: `It could not start: ${why}.`, lines: [] }
}

/** Throws where D1 does not answer for some seconds; the dispatch is then made again. */
async function claim(env: Env, accountId: string, findOwn: FindOwn): Promise<ClaimedTask | null> {
  for (let tries = 1; ; tries += 1) {
    const task = findOwn()
    if (!task || task.slot === null || task.allocation === null) return null
    const { id: taskId, jobId, slot, allocation } = task
    try {
      const made = { taskId, jobId, slot, allocation, now: Date.now() }
      return await claimTask(databaseOf(env, accountId), made)
    } catch (error) {
      logError("dispatch.claim_failed", { error: String(error) })
      if (tries === CLAIM_TRIES_MAX) throw error
      await scheduler.wait(retryWaitMs(tries))
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
    if (!task || !isDispatching(task)) return task && isPosted(task) ? "running" : "superseded"
    const result = await postTask(env, order)
    const posted = findOwn()
    if (!posted) {
      // An end that came before the runner had the task killed nothing.
      if (!("refused" in result)) await deleteTask(env, { ...order, taskId: order.task_id })
      return "superseded"
    }
    if ("accepted" in result) {
      // A heartbeat may have come before the answer, and then the lease counts from there.
      if (isDispatching(posted)) queue.hold(runningTask(posted, result.accepted, Date.now()))
      return "running"
    }
    const patienceMs = "full" in result ? FULL_MS_MAX : POST_MS_MAX
    // Also where the clock was set back, which would make the time last longer.
    if (Math.abs(Date.now() - startedAt) > patienceMs) return "no capacity"
    await scheduler.wait(retryWaitMs(tries))
  }
}

/**
 * Wait after the n-th try in milliseconds: about twice as long each time, and by chance up to half
 * less, so that those who failed together do not come back together.
 */
export function retryWaitMs(tries: number, random: number = Math.random()): number {
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
  const grant = { at: claimedAt, inputs: Object.fromEntries(objects), outputs: outputKeysOf(work) }
  const token = await makeTaskToken(settingsOf(env).LATHE_SECRET, run, grant)
  return {
    task_id: taskId,
    job_id: jobId,
    account_id: accountId,
    ...(requestId !== null && { request_id: requestId }),
    fence,
    slot: task.slot ?? "",
    allocation: task.allocation ?? 0,
    io: { origin: ioOrigin(env, taskId), token },
    inputs: inputs.map(({ key, file }) => ({
      key,
      name: inputName(key, file?.name ?? ""),
      ...(file && { file_id: file.id }),
      size_bytes: file?.sizeBytes ?? 0,
      ...(file?.probe?.duration !== undefined && { duration_seconds: file.probe.duration }),
    })),
    work: plan ? limitRun(env, work, plan) : work,
    ...(plan && { plan: plan.plan }),
    ...(secrets && { secrets }),
  }
}

/** The plan of the claim counts, and not that of the moment when the job was made. */
function limitRun(env: Env, work: TaskWork, plan: HeldPlan): TaskWork {
  const { runSecondsMax, fileBytesMax } = limitsOf(plan, settingsOf(env))
  const { runSecondsMin = 0, limitsItself } = findTaskDefinition(work.kind) ?? {}
  const ownMax = limitsItself ? (work.run_seconds_max ?? Infinity) : Infinity
  const run_seconds_max = Math.min(Math.max(runSecondsMax, runSecondsMin), ownMax)
  return {
    ...work,
    ...(work.run_seconds_max !== undefined && { run_seconds_max }),
    ...(work.bytes_max !== undefined && { bytes_max: fileBytesMax }),
  }
}
