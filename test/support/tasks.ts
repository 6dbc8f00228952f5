import { env } from "cloudflare:workers"
import type { FailureCode } from "../../src/contract/failure.ts"
import type { TaskResult } from "../../src/contract/task.ts"
import { receiveReport } from "../../src/pipeline/settle/settle.ts"
import { databaseOf } from "../../src/storage/database.ts"
import { claimTask } from "../../src/storage/tasks.ts"
import { readSnapshot } from "../../src/storage/transitions.ts"
import { BOOT } from "./bundle.ts"

/** What a runner says at the end of a task. */
export type TaskEnd = { result: TaskResult } | { failure: { code: FailureCode; message: string } }

/** Ends the one task of a job as its runner would; answers the run. */
export async function endTask(accountId: string, jobId: string, end: TaskEnd) {
  const database = databaseOf(env, accountId)
  const taskId = (await readSnapshot(database, jobId))?.tasks[0]?.id
  if (taskId === undefined) throw new Error(`the job ${jobId} has no task`)
  const claim = { taskId, jobId, slot: "fetch-0", allocation: 2 ** 45, now: Date.now() }
  await claimTask(database, claim)
  // The dispatcher may have been first; the report then comes at its fence.
  const fence = (await readSnapshot(database, jobId))?.tasks[0]?.fence ?? 0
  const run = { accountId, jobId, taskId, fence }
  const moment = { boot: BOOT, at: new Date().toISOString(), processing_seconds: 1 }
  const receipt = await receiveReport(
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
