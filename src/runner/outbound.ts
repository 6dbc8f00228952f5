import type { OutboundHandlerContext } from "@cloudflare/containers"
import { Hono } from "hono"
import type { Env } from "../env.ts"
import { logError } from "../log.ts"
import type { TaskRun } from "../rpc.ts"
import { makeIo } from "./io.ts"
import type { OnReport } from "./io.ts"
import { POOLS } from "./pools.ts"

/**
 * Answers what a container asks of `worker.internal`: the same routes that a plain runner has, and
 * the container's object is notified when a run of it is over.
 */
export function answerContainer(onReport: OnReport) {
  return async (
    request: Request,
    env: Env,
    container: OutboundHandlerContext,
  ): Promise<Response> => {
    const io = makeIo(async (_, run, received) => {
      const receipt = await onReport(env, run, received)
      if (received.kind !== "started" && received.kind !== "progress") {
        await notifyContainer(env, container, run)
      }
      return receipt
    })
    return await new Hono<{ Bindings: Env }>().route("/io", io).fetch(request, env)
  }
}

/** Where this fails the container is idle a little later, when its object asks D1 itself. */
async function notifyContainer(
  env: Env,
  { className, containerId }: OutboundHandlerContext,
  run: TaskRun,
): Promise<void> {
  const pool = Object.values(POOLS).find((each) => each.className === className) ?? POOLS.media
  const runners = env[pool.binding]
  try {
    await runners.get(runners.idFromString(containerId)).runEnded(run)
  } catch (error) {
    logError("runner.end_not_told", { container: containerId, error: String(error) })
  }
}
