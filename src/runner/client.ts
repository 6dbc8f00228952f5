import { runnerHeaders } from "../contract/protocol.ts"
import { taskAccepted } from "../contract/task.ts"
import type { TaskOrder } from "../contract/task.ts"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { logError } from "../log.ts"
import type { RunnerAnswer } from "./container.ts"

/** A call that has no answer by then is made again; every call is idempotent. */
const CALL_MS = 10_000

/** Names of the places where tasks run: slots of the plain runner, or one container each. */
export function slotNames(env: Env): string[] {
  const settings = settingsOf(env)
  if (settings.RUNNER_ORIGIN) return names("local", settings.RUNNER_CAPACITY)
  return names("media", settings.RUNNER_INSTANCES)
}

/** Where a runner finds inputs, outputs and reports of a task. */
export function ioOrigin(env: Env, taskId: string): string {
  return `${settingsOf(env).IO_ORIGIN ?? "http://worker.internal"}/io/${taskId}`
}

/** `accepted` names the process that took the task; the others say why nobody did. */
export type PostResult = { accepted: string } | { refused: string } | { unreachable: string }

/** Hands a task to the runner of a slot; the same task and fence may be handed over again. */
export async function postTask(env: Env, order: TaskOrder): Promise<PostResult> {
  try {
    const { status, text } = settingsOf(env).RUNNER_ORIGIN
      ? await callPlain(env, "POST", "/tasks", JSON.stringify(order))
      : await inTime(env.MEDIA_RUNNER.getByName(order.slot).post(order))
    if (status !== 202) return { refused: `${status} ${text}` }
    return { accepted: taskAccepted.parse(JSON.parse(text)).boot }
  } catch (error) {
    return { unreachable: String(error) }
  }
}

/** Kills a task's run at this fence or below; true where the runner said that it is gone. */
export async function deleteTask(
  env: Env,
  { slot, taskId, fence }: { slot: string; taskId: string; fence: number },
): Promise<boolean> {
  try {
    const { status } = settingsOf(env).RUNNER_ORIGIN
      ? await callPlain(env, "DELETE", `/tasks/${taskId}?fence=${fence}`)
      : await inTime(env.MEDIA_RUNNER.getByName(slot).kill(taskId, fence))
    return status === 200
  } catch {
    return false
  }
}

/**
 * Ends whatever a slot holds, so that another account may get it under this grant; a plain runner
 * holds nothing. False where a later grant has the slot, or where nobody can say that it is empty.
 */
export async function destroySlot(env: Env, slot: string, grant: number): Promise<boolean> {
  if (settingsOf(env).RUNNER_ORIGIN) return true
  try {
    return await inTime(env.MEDIA_RUNNER.getByName(slot).end(grant))
  } catch (error) {
    logError("runner.destroy_failed", { slot, error: String(error) })
    return false
  }
}

/** Ends a run whose runner fell silent; a container that did is not to be trusted with another. */
export async function endSilentRun(
  env: Env,
  run: { slot: string; taskId: string; fence: number; grant: number },
): Promise<boolean> {
  if (settingsOf(env).RUNNER_ORIGIN) return await deleteTask(env, run)
  return await destroySlot(env, run.slot, run.grant)
}

async function callPlain(
  env: Env,
  method: string,
  path: string,
  body: string | null = null,
): Promise<RunnerAnswer> {
  const { RUNNER_ORIGIN: origin, RUNNER_TOKEN: token } = settingsOf(env)
  const request = new Request(`${origin}${path}`, {
    method,
    body,
    headers: { "content-type": "application/json", ...runnerHeaders(token) },
    signal: AbortSignal.timeout(CALL_MS),
  })
  const answer = env.RUNNER ? await env.RUNNER.fetch(request) : await fetch(request)
  return { status: answer.status, text: await answer.text() }
}

/** What was called goes on where its answer comes too late: a container that starts, starts once. */
async function inTime<Value>(call: Promise<Value>): Promise<Value> {
  const late = scheduler.wait(CALL_MS).then((): never => {
    throw new Error("no answer in time")
  })
  return await Promise.race([call, late])
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
}
