import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../contract/protocol.ts"
import { taskAccepted } from "../contract/task.ts"
import type { TaskOrder } from "../contract/task.ts"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"

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
    const answer = await callRunner(env, order.slot, "/tasks", {
      method: "POST",
      body: JSON.stringify(order),
    })
    if (answer.status !== 202) return { refused: `${answer.status} ${await answer.text()}` }
    return { accepted: taskAccepted.parse(await answer.json()).boot }
  } catch (error) {
    return { unreachable: String(error) }
  }
}

/** Kills a task's run at this fence or below; true where the runner said that it is gone. */
export async function deleteTask(
  env: Env,
  run: { slot: string; taskId: string; fence: number },
): Promise<boolean> {
  try {
    const path = `/tasks/${run.taskId}?fence=${run.fence}`
    const answer = await callRunner(env, run.slot, path, { method: "DELETE" })
    await answer.body?.cancel()
    return answer.ok
  } catch {
    return false
  }
}

/** Ends whatever a slot holds, before another account gets it; a plain runner holds nothing. */
export async function destroySlot(env: Env, slot: string): Promise<void> {
  if (settingsOf(env).RUNNER_ORIGIN) return
  await env.MEDIA_RUNNER.getByName(slot).destroy()
}

async function callRunner(
  env: Env,
  slot: string,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const origin = settingsOf(env).RUNNER_ORIGIN
  const request = new Request(`${origin ?? "http://runner"}${path}`, {
    ...init,
    headers: { "content-type": "application/json", [PROTOCOL_HEADER]: PROTOCOL_VERSION },
    signal: AbortSignal.timeout(CALL_MS),
  })
  if (!origin) return await env.MEDIA_RUNNER.getByName(slot).fetch(request)
  return env.RUNNER ? await env.RUNNER.fetch(request) : await fetch(request)
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
}
