import type { Env } from "../env.ts"
import { openDatabase } from "../storage/database.ts"
import { createJob } from "../storage/jobs.ts"
import type { JobDraft } from "../storage/jobs.ts"
import type { NewTask } from "./dispatcher.ts"

/** What a JOBS message says; D1 has the rest. */
export type JobMessage = { accountId: string; tasks: NewTask[] }

/**
 * Accepts a job: one batch makes it true, then a message and a call carry it to its dispatcher.
 * Losing either costs time only, since the sweep finds the job again.
 */
export async function acceptJob(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  draft: JobDraft,
): Promise<void> {
  await createJob(openDatabase(env.DB), draft)
  const { accountId, id: jobId, priority } = draft.job
  const tasks = draft.tasks.map(({ task, blocked }) => ({ id: task.id, jobId, priority, blocked }))
  const message: JobMessage = { accountId, tasks }
  ctx.waitUntil(env.DISPATCHER.getByName(accountId).accept(accountId, tasks))
  ctx.waitUntil(env.JOBS.send(message))
}
