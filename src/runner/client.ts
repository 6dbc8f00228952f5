import { makeRunnerHeaders } from "../contract/protocol.ts"
import { taskAcceptedResponseSchema } from "../contract/task.ts"
import type { TaskOrder } from "../contract/task.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { makeDurableObjectLocationOptions } from "../bindings/durable-objects.ts"
import { logError } from "../platform/log.ts"
import type { ContainerState, RunnerHealthPath, RunnerAnswer } from "../bindings/rpc.ts"
import { getPoolDefinitionOfSlot } from "../bindings/pools.ts"

/**
 * Timeout of a call to a runner, in milliseconds. Calls are idempotent, so that callers may repeat
 * them.
 */
const CALL_MS = 10_000
const HEALTH_MS = 2000

/**
 * Returns the base URL of the routes at which a runner reads the inputs of a task, stores the
 * task's outputs and sends reports.
 */
export function makeTaskIoUrl(env: Env, taskId: string): string {
  return `${getSettings(env).IO_ORIGIN ?? "http://worker.internal"}/io/${taskId}`
}

/**
 * Outcome of posting a task to a runner. `accepted` is the boot id of the process that has the
 * task. `full` means that the runner's disk has no room for the task beside its other tasks.
 */
export type PostTaskResult =
  | { accepted: string }
  | { refused: string }
  | { full: string }
  | { unreachable: string }

/**
 * Posts a task to the runner of a slot. The same task may be posted again with the same fencing
 * token.
 */
export async function postTask(env: Env, order: TaskOrder): Promise<PostTaskResult> {
  try {
    const { status, text } = usesPlainRunner(env)
      ? await callPlain(env, "POST", "/tasks", JSON.stringify(order))
      : await withTimeout(containerOf(env, order.slot).post(order))
    if (status === 507) return { full: text }
    if (status !== 202) return { refused: `${status} ${text}` }
    return { accepted: taskAcceptedResponseSchema.parse(JSON.parse(text)).boot }
  } catch (error) {
    return { unreachable: String(error) }
  }
}

/**
 * Kills the runs of a task whose fencing token is at most `fence`. Returns true if the runner
 * confirms the kill.
 */
export async function killTask(
  env: Env,
  { slot, taskId, fence }: { slot: string; taskId: string; fence: number },
): Promise<boolean> {
  try {
    const { status } = usesPlainRunner(env)
      ? await callPlain(env, "DELETE", `/tasks/${taskId}?fence=${fence}`)
      : await withTimeout(containerOf(env, slot).kill(taskId, fence))
    return status === 200
  } catch {
    return false
  }
}

/**
 * Stops the container of a slot, so that another account may get the slot. `allocation` is the
 * slot's allocation number as the caller knows it. Returns false if a later allocation with a
 * higher number has the slot, or if the stop is unconfirmed. Does nothing for a plain runner, which
 * has no containers.
 */
export async function stopSlotContainer(
  env: Env,
  slot: string,
  allocation: number,
): Promise<boolean> {
  if (usesPlainRunner(env)) return true
  try {
    return await withTimeout(containerOf(env, slot).end(allocation))
  } catch (error) {
    logError("runner.destroy_failed", { slot, error: String(error) })
    return false
  }
}

/**
 * Ends a run that sends no heartbeats. Stops the whole container of the run, because the container
 * may still run the task and must not get another task. Returns false if the end is unconfirmed.
 */
export async function endSilentRun(
  env: Env,
  run: { slot: string; taskId: string; fence: number; allocation: number },
): Promise<boolean> {
  if (usesPlainRunner(env)) return await killTask(env, run)
  return await stopSlotContainer(env, run.slot, run.allocation)
}

/**
 * Returns the state of a slot's container. Throws if the container's Durable Object does not
 * respond in time.
 */
export async function inspectContainer(
  env: Env,
  slot: string,
  healthPath: RunnerHealthPath,
): Promise<ContainerState> {
  return await withTimeout(containerOf(env, slot).inspect(healthPath))
}

/** Returns the unparsed health of the plain runner. Returns null if the runner does not respond. */
export async function readPlainRunnerHealth(
  env: Env,
  healthPath: RunnerHealthPath = "/health",
  timeoutMs = healthPath === "/health" ? HEALTH_MS : CALL_MS,
): Promise<unknown> {
  try {
    const { status, text } = await callPlain(env, "GET", healthPath, null, timeoutMs)
    return status === 200 ? JSON.parse(text) : null
  } catch {
    return null
  }
}

/**
 * Reports whether the service uses a plain runner, which is one process at `RUNNER_ORIGIN` in place
 * of containers.
 */
export function usesPlainRunner(env: Env): boolean {
  return getSettings(env).RUNNER_ORIGIN !== undefined
}

function containerOf(env: Env, slot: string) {
  return env[getPoolDefinitionOfSlot(slot).binding].getByName(
    slot,
    makeDurableObjectLocationOptions(env),
  )
}

async function callPlain(
  env: Env,
  method: string,
  path: string,
  body: string | null = null,
  timeoutMs = CALL_MS,
): Promise<RunnerAnswer> {
  const { RUNNER_ORIGIN: origin, RUNNER_TOKEN: token } = getSettings(env)
  const request = new Request(`${origin}${path}`, {
    method,
    body,
    headers: { "content-type": "application/json", ...makeRunnerHeaders(token) },
    signal: AbortSignal.timeout(timeoutMs),
  })
  const answer = env.RUNNER ? await env.RUNNER.fetch(request) : await fetch(request)
  return { status: answer.status, text: await answer.text() }
}

/**
 * Waits for a call, and rejects after the timeout. Does not abort the call, so that a container
 * with a slow start still starts.
 */
async function withTimeout<Value>(call: Promise<Value>): Promise<Value> {
  const late = scheduler.wait(CALL_MS).then((): never => {
    throw new Error("no answer in time")
  })
  return await Promise.race([call, late])
}
