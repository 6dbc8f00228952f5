import { isFinal } from "../contract/state.ts"
import type { Env } from "../env.ts"
import type { Job } from "../storage/schema.ts"
import type { Progress } from "./watchers.ts"

/** How far an open job is, from the dispatcher that knows; null where it is over or not begun. */
export async function progressOf(env: Env, job: Job): Promise<Progress | null> {
  if (isFinal(job.state)) return null
  return await env.DISPATCHER.getByName(job.accountId).progressOf(job.id)
}
