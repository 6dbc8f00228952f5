import { LEASE_MS } from "../contract/protocol.ts"
import { inputName } from "../contract/task.ts"
import type { TaskOrder } from "../contract/task.ts"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { ioOrigin, postTask } from "../runner/client.ts"
import { makeTaskToken } from "../runner/token.ts"
import { openDatabase } from "../storage/database.ts"
import type { HeldTask, HeldTasks } from "../storage/held-tasks.ts"
import { claimTask } from "../storage/tasks.ts"
import type { ClaimedTask } from "../storage/tasks.ts"
import { endJob } from "./settle.ts"
import { failureOfInputs } from "./task.ts"
import { logError } from "../log.ts"

/** A task that no runner took by then waits again; being refused costs it nothing. */
const POST_MS_MAX = 120_000
const RETRY_MS = 200
/** A platform that has no container to give refuses those who ask it too often. */
const RETRY_MS_MAX = 2_000

export type DispatchOutcome = "running" | "gone" | "no capacity" | "not ours"

/**
 * Claims a task that got a grant and hands it to the slot's runner. Every step is idempotent, so a
 * dispatch that died is simply made again.
 */
export async function dispatchTask(
  env: Env,
  held: HeldTasks,
  taskId: string,
  grant: number | null,
): Promise<DispatchOutcome> {
  function mine(): HeldTask | null {
    const task = held.find(taskId)
    return task !== null && task.grant === grant ? task : null
  }
  const claimed = await claim(env, mine)
  if (!claimed) return mine() ? "gone" : "not ours"
  const task = mine()
  if (!task) return "not ours"
  const failure = failureOfInputs(claimed.inputs.map(({ file }) => (file ? "ready" : "gone")))
  if (failure) {
    await endJob(env, task.jobId, { state: "failed", failure })
    return "gone"
  }
  const { fence } = claimed.task
  held.save({ ...task, step: "posting", fence })
  return await post(env, held, await makeOrder(env, claimed), () => {
    const now = mine()
    return now?.fence === fence ? now : null
  })
}

async function claim(env: Env, mine: () => HeldTask | null): Promise<ClaimedTask | null> {
  for (;;) {
    const task = mine()
    if (!task || task.slot === null || task.grant === null) return null
    const { id: taskId, jobId, slot, grant } = task
    try {
      const now = Date.now()
      return await claimTask(openDatabase(env.DB), { taskId, jobId, slot, grant, now })
    } catch (error) {
      logError("dispatch.claim_failed", { error: String(error) })
      await scheduler.wait(RETRY_MS)
    }
  }
}

async function post(
  env: Env,
  held: HeldTasks,
  order: TaskOrder,
  mine: () => HeldTask | null,
): Promise<DispatchOutcome> {
  const until = Date.now() + POST_MS_MAX
  let waitMs = RETRY_MS
  while (mine()?.step === "posting") {
    const result = await postTask(env, order)
    const task = mine()
    if (!task) return "not ours"
    if ("accepted" in result) {
      if (task.step === "posting") {
        const leaseUntil = Date.now() + LEASE_MS
        held.save({ ...task, step: "running", boot: result.accepted, leaseUntil })
      }
      return "running"
    }
    if (Date.now() > until) return "no capacity"
    await scheduler.wait(waitMs)
    waitMs = Math.min(2 * waitMs, RETRY_MS_MAX)
  }
  return mine() ? "running" : "not ours"
}

async function makeOrder(env: Env, { task, inputs }: ClaimedTask): Promise<TaskOrder> {
  const { id: taskId, jobId, accountId, fence } = task
  const token = await makeTaskToken(settingsOf(env).LATHE_SECRET, {
    accountId,
    jobId,
    taskId,
    fence,
  })
  return {
    task_id: taskId,
    job_id: jobId,
    fence,
    slot: task.slot ?? "",
    grant: task.grant ?? 0,
    io: { origin: ioOrigin(env, taskId), token },
    inputs: inputs.map(({ key, file }) => ({
      key,
      name: inputName(key, file?.name ?? ""),
      size_bytes: file?.sizeBytes ?? 0,
      ...(file?.probe?.duration !== undefined && { duration_seconds: file.probe.duration }),
    })),
    work: task.work,
  }
}
