import type { Env } from "../../env.ts"
import type { AccountDatabase } from "../../storage/database.ts"
import { findIdempotency } from "../../storage/idempotency.ts"
import type { Idempotency } from "../../storage/idempotency.ts"
import { createJob } from "../../storage/job-drafts.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"
import { openValueWriter } from "../../storage/large-values.ts"
import { fitDraft } from "../../storage/row-values.ts"
import { sendJobMessage } from "../dispatch/job-messages.ts"
import { abandonValues } from "../uploads/abandon.ts"

/** `jobId` names the job that the request stands for; `replayed` where an earlier one made it. */
export type Accepted = { jobId: string; replayed: boolean } | "conflict"

export type BackgroundContext = Pick<ExecutionContext, "waitUntil">

/** The job that an earlier request with the same key made; null where the key is free. */
export async function findAccepted(
  database: AccountDatabase,
  { key, bodyHash }: Idempotency,
): Promise<Accepted | null> {
  const known = await findIdempotency(database, key, Date.now())
  if (!known) return null
  return known.bodyHash === bodyHash ? { jobId: known.jobId, replayed: true } : "conflict"
}

/**
 * Accepts a job: one batch makes it true, then a message and a call carry it to its dispatcher.
 * Losing either costs time only, since the sweep finds the job again. Where a request with the
 * same key came first meanwhile, its job is the answer.
 */
export async function acceptJob(
  env: Env,
  ctx: BackgroundContext,
  database: AccountDatabase,
  draft: JobDraft,
): Promise<Accepted> {
  const writer = openValueWriter(env.MEDIA, database)
  try {
    await createJob(database, await fitDraft(writer, draft))
  } catch (error) {
    ctx.waitUntil(abandonValues(env, writer))
    const earlier = draft.once && (await findAccepted(database, draft.once))
    if (earlier) return earlier
    throw error
  }
  const { accountId } = database
  const { id: jobId, priority } = draft.job
  const jobWeight = draft.tasks.reduce((sum, { task }) => sum + (task.weight ?? 1), 0)
  const tasks = draft.tasks.map(({ task, pool, blocked }) => {
    const { id, weight, createdAt } = task
    return { id, jobId, pool, priority, weight, jobWeight, blocked, createdAt }
  })
  ctx.waitUntil(env.DISPATCHER.getByName(accountId).accept(accountId, tasks))
  ctx.waitUntil(sendJobMessage(env, { accountId, tasks }))
  return { jobId, replayed: false }
}
