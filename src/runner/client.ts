import { runnerHeaders } from "../contract/protocol.ts"
import { taskAccepted } from "../contract/task.ts"
import type { TaskOrder } from "../contract/task.ts"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { placeOf } from "../placement.ts"
import { logError } from "../log.ts"
import type { ContainerState, HealthPath, RunnerAnswer } from "../rpc.ts"
import { poolOfSlot } from "./pools.ts"

/** A call without an answer by then is made again; every call is idempotent. */
const CALL_MS = 10_000
const HEALTH_MS = 2000

/** Where a runner finds inputs, outputs and reports of a task. */
export function ioOrigin(env: Env, taskId: string): string {
  return `${settingsOf(env).IO_ORIGIN ?? "http://worker.internal"}/io/${taskId}`
}

/**
 * `accepted` names the process that took the task; the others say why none did. `full`: its disk has
 * no room for the task beside what it has.
 */
export type PostResult =
  | { accepted: string }
  | { refused: string }
  | { full: string }
  | { unreachable: string }

/** Hands a task to the runner of a slot; the same task and fence may be handed over again. */
export async function postTask(env: Env, order: TaskOrder): Promise<PostResult> {
  try {
    const { status, text } = isPlain(env)
      ? await callPlain(env, "POST", "/tasks", JSON.stringify(order))
      : await withTimeout(containerOf(env, order.slot).post(order))
    if (status === 507) return { full: text }
    if (status !== 202) return { refused: `${status} ${text}` }
    return { accepted: taskAccepted.parse(JSON.parse(text)).boot }
  } catch (error) {
    return { unreachable: String(error) }
  }
}

/** Kills a task's run at this fence or below; true where the runner confirms that it is gone. */
export async function deleteTask(
  env: Env,
  { slot, taskId, fence }: { slot: string; taskId: string; fence: number },
): Promise<boolean> {
  try {
    const { status } = isPlain(env)
      ? await callPlain(env, "DELETE", `/tasks/${taskId}?fence=${fence}`)
      : await withTimeout(containerOf(env, slot).kill(taskId, fence))
    return status === 200
  } catch {
    return false
  }
}

/**
 * Ends whatever a slot holds, so that another account may get it by this allocation; a plain
 * runner holds nothing. False where a later allocation has the slot, or where it may not
 * be empty.
 */
export async function destroySlot(env: Env, slot: string, allocation: number): Promise<boolean> {
  if (isPlain(env)) return true
  try {
    return await withTimeout(containerOf(env, slot).end(allocation))
  } catch (error) {
    logError("runner.destroy_failed", { slot, error: String(error) })
    return false
  }
}

/** Ends a run whose runner fell silent; a container that did is not trusted with another task. */
export async function endSilentRun(
  env: Env,
  run: { slot: string; taskId: string; fence: number; allocation: number },
): Promise<boolean> {
  if (isPlain(env)) return await deleteTask(env, run)
  return await destroySlot(env, run.slot, run.allocation)
}

/** How the container of a slot is; throws where its object does not say it in time. */
export async function inspectContainer(
  env: Env,
  slot: string,
  healthPath: HealthPath,
): Promise<ContainerState> {
  return await withTimeout(containerOf(env, slot).inspect(healthPath))
}

/** What the plain runner says of itself, not parsed; null where it does not answer. */
export async function readPlainHealth(
  env: Env,
  healthPath: HealthPath = "/health",
  timeoutMs = healthPath === "/health" ? HEALTH_MS : CALL_MS,
): Promise<unknown> {
  try {
    const { status, text } = await callPlain(env, "GET", healthPath, null, timeoutMs)
    return status === 200 ? JSON.parse(text) : null
  } catch {
    return null
  }
}

/** Whether the runner is a plain process, and not containers. */
export function isPlain(env: Env): boolean {
  return settingsOf(env).RUNNER_ORIGIN !== undefined
}

function containerOf(env: Env, slot: string) {
  return env[poolOfSlot(slot).binding].getByName(slot, placeOf(env))
}

async function callPlain(
  env: Env,
  method: string,
  path: string,
  body: string | null = null,
  timeoutMs = CALL_MS,
): Promise<RunnerAnswer> {
  const { RUNNER_ORIGIN: origin, RUNNER_TOKEN: token } = settingsOf(env)
  const request = new Request(`${origin}${path}`, {
    method,
    body,
    headers: { "content-type": "application/json", ...runnerHeaders(token) },
    signal: AbortSignal.timeout(timeoutMs),
  })
  const answer = env.RUNNER ? await env.RUNNER.fetch(request) : await fetch(request)
  return { status: answer.status, text: await answer.text() }
}

/** The call itself goes on after the timeout, so that a container that starts, starts once. */
async function withTimeout<Value>(call: Promise<Value>): Promise<Value> {
  const late = scheduler.wait(CALL_MS).then((): never => {
    throw new Error("no answer in time")
  })
  return await Promise.race([call, late])
}
