import type { OutboundHandlerContext } from "@cloudflare/containers"
import { Hono } from "hono"
import type { Env } from "../bindings/env.ts"
import { logError } from "../platform/log.ts"
import type { TaskRun } from "../bindings/rpc.ts"
import { makeIoRoutes } from "./io.ts"
import type { ReportHandler } from "./io.ts"
import { POOLS } from "../bindings/pools.ts"

/**
 * Makes the outbound handler of containers, which serves their requests to `worker.internal` by the
 * routes of `makeIoRoutes`. The handler notifies the container's Durable Object at the end of each
 * run.
 */
export function makeOutboundHandler(onReport: ReportHandler) {
  return async (
    request: Request,
    env: Env,
    container: OutboundHandlerContext,
  ): Promise<Response> => {
    const io = makeIoRoutes(async (_, run, received) => {
      const receipt = await onReport(env, run, received)
      if (received.kind !== "started" && received.kind !== "progress") {
        await notifyContainer(env, container, run)
      }
      return receipt
    })
    return await new Hono<{ Bindings: Env }>().route("/io", io).fetch(request, env)
  }
}

/**
 * Notifies the container's Durable Object that the container's run ended. If the call fails, the
 * object later reads the end from D1.
 */
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
