import type { OutboundHandlerContext } from "@cloudflare/containers"
import type { Env } from "../env.ts"
import { logError } from "../log.ts"
import { handleIo } from "./io.ts"
import type { OnReport } from "./io.ts"
import type { TaskRun } from "./token.ts"

/**
 * Answers what a container asks of `worker.internal`: the same routes that a plain runner has, and
 * the container's object hears when a run of it is over.
 */
export function answerContainer(onReport: OnReport) {
  return (request: Request, env: Env, container: OutboundHandlerContext): Promise<Response> =>
    handleIo(request, env, async (_, run, told) => {
      const counts = await onReport(env, run, told)
      if (told.kind !== "started" && told.kind !== "progress") await tellEnd(env, container, run)
      return counts
    })
}

/** Where this fails the container is idle a little later: its object asks for itself then. */
async function tellEnd(
  env: Env,
  { className, containerId }: OutboundHandlerContext,
  run: TaskRun,
): Promise<void> {
  const runners = className === "FetchRunner" ? env.FETCH_RUNNER : env.MEDIA_RUNNER
  try {
    await runners.get(runners.idFromString(containerId)).ended(run)
  } catch (error) {
    logError("runner.end_not_told", { container: containerId, error: String(error) })
  }
}
