import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import { databaseOf } from "../../storage/database.ts"
import { listLostInputs } from "../../storage/open-tasks.ts"
import type { TaskQueue } from "../../storage/task-queue.ts"
import { endJob } from "../settle/settle.ts"
import { inputFailure } from "./reconcile.ts"
import type { UnstartableTask } from "./reconcile.ts"

/** Each takes some statements of D1, of which an invocation has a thousand; the next ends others. */
const ENDED_AT_ONCE_MAX = 30

/** Ends jobs that can never start. Answers the ids of queued tasks whose jobs are over. */
export async function endUnstartable(
  env: Env,
  queue: TaskQueue,
  accountId: string,
  unstartable: UnstartableTask[],
): Promise<string[]> {
  const over: string[] = []
  const byJob = new Map(unstartable.map(({ id, jobId }) => [jobId, id]))
  for (const [jobId, taskId] of [...byJob].slice(0, ENDED_AT_ONCE_MAX)) {
    await doOrLog("dispatcher.end_job_failed", { job_id: jobId }, async () => {
      const failure = inputFailure(await listLostInputs(databaseOf(env, accountId), taskId))
      if (failure === null) return
      await endJob(env, { accountId, jobId }, { state: "failed", failure })
      over.push(...queue.ofJob(jobId).map(({ id }) => id))
    })
  }
  return over
}
