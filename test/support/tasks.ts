import { env } from "cloudflare:workers"
import type { FailureCode } from "../../src/contract/failure.ts"
import type { TaskResult } from "../../src/contract/task.ts"
import { handleRunnerReport } from "../../src/jobs/settle/settle.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { claimTask } from "../../src/db/jobs/tasks.ts"
import { readJobSnapshot } from "../../src/db/jobs/apply-transition.ts"
import { TEST_BOOT_ID } from "./media/bundle.ts"

/** Outcome of a task, which the last report of its run contains. */
export type OnlyTaskEnd =
  | { result: TaskResult }
  | { failure: { code: FailureCode; message: string } }

/** Ends the only task of a job as a runner does. Returns the run. */
export async function endOnlyTask(accountId: string, jobId: string, end: OnlyTaskEnd) {
  const database = openAccountDatabases(env, accountId)
  const taskId = (await readJobSnapshot(database, jobId))?.tasks[0]?.id
  if (taskId === undefined) throw new Error(`the job ${jobId} has no task`)
  const claim = { taskId, jobId, slot: "fetch-0", allocation: 2 ** 45, now: Date.now() }
  await claimTask(database, claim)
  // The dispatcher may have claimed the task first. The report therefore uses the present fence.
  const fence = (await readJobSnapshot(database, jobId))?.tasks[0]?.fence ?? 0
  const run = { accountId, jobId, taskId, fence }
  const moment = { boot: TEST_BOOT_ID, at: new Date().toISOString(), processing_seconds: 1 }
  const receipt = await handleRunnerReport(
    env,
    run,
    "result" in end
      ? { ...moment, kind: "finished", result: end.result }
      : {
          ...moment,
          kind: "failed",
          blame: "caller",
          failure: { ...end.failure, lines: [] },
        },
  )
  if (receipt !== "ok") throw new Error(`the report of the job ${jobId} was ${receipt}`)
  return run
}
