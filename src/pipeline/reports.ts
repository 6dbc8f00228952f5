import type { Report } from "../contract/report.ts"
import type { Env } from "../env.ts"
import type { TaskRun } from "../runner/token.ts"
import { settle } from "./settle.ts"

/** Takes in what a runner says of a task; false where its run is to be killed. */
export async function handleReport(env: Env, run: TaskRun, told: Report): Promise<boolean> {
  const dispatcher = env.DISPATCHER.getByName(run.accountId)
  const { taskId, fence } = run
  if (told.kind === "started" || told.kind === "progress") {
    const progress =
      told.kind === "progress" ? { percent: told.percent, etaSeconds: told.eta_seconds } : undefined
    const sign = { taskId, fence, boot: told.boot, progress }
    return await dispatcher.renew(run.accountId, run.jobId, sign)
  }
  const { outcome, taskIds } = await settle(env, run, told)
  // Said again also where the word no longer counts: the dispatcher may not have heard it then.
  await dispatcher.ended(run.accountId, taskIds)
  return outcome !== "stale"
}
