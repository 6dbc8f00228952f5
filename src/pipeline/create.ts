import type { Env } from "../env.ts"
import { openDatabase } from "../storage/database.ts"
import { findIdempotency } from "../storage/idempotency.ts"
import { createJob } from "../storage/jobs.ts"
import type { JobDraft } from "../storage/jobs.ts"
import { sendJobMessage } from "./job-messages.ts"
import type { JobMessage } from "./job-messages.ts"

/** `jobId` names the job that the request stands for; `replayed` where an earlier one made it. */
export type Accepted = { jobId: string; replayed: boolean } | "conflict"

/**
 * Accepts what a request asks for once: sent again with the same key it is the same job, also
 * where both arrive together. `makeDraft` is called only where no job is there yet.
 */
export async function acceptOnce(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  once: { accountId: string; key: string; bodyHash: string } | null,
  makeDraft: () => Promise<JobDraft>,
): Promise<Accepted> {
  const before = once && (await findAccepted(env, once))
  if (before) return before
  const draft = await makeDraft()
  try {
    await acceptJob(env, ctx, once ? { ...draft, idempotency: once } : draft)
    return { jobId: draft.job.id, replayed: false }
  } catch (error) {
    const meanwhile = once && (await findAccepted(env, once))
    if (meanwhile) return meanwhile
    throw error
  }
}

/** The job that an earlier request with the same key made; null where the key is free. */
export async function findAccepted(
  env: Env,
  once: { accountId: string; key: string; bodyHash: string },
): Promise<Accepted | null> {
  const known = await findIdempotency(openDatabase(env.DB), once, Date.now())
  if (!known) return null
  return known.bodyHash === once.bodyHash ? { jobId: known.jobId, replayed: true } : "conflict"
}

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
  ctx.waitUntil(sendJobMessage(env, message))
}
