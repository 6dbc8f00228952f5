import { sha256Hex } from "../../crypto/sha256.ts"
import type { Env } from "../../env.ts"
import { planMetadata } from "../../kinds/metadata/plan.ts"
import { databaseOf } from "../../storage/database.ts"
import { findLookup } from "../../storage/metadata-lookups.ts"
import type { Creator } from "../../storage/job-drafts.ts"
import type { Job } from "../../storage/schema/jobs.ts"
import { isFinal } from "../../storage/schema/states.ts"
import { hydrateJob } from "../../storage/hydrate.ts"
import { cancelJob } from "../jobs/cancel.ts"
import { acceptJob } from "../jobs/create.ts"
import type { BackgroundContext } from "../jobs/create.ts"
import { awaitEnd } from "../jobs/wait.ts"

/** How long what a lookup found answers for its URL. */
export const FRESH_MS = 60_000
const WAIT_MS_MAX = 29_000
/** What is left of the wait is for slots, containers that start, and another try. */
const RUN_SECONDS_MAX = 25

/** What is to be looked up for an account; `origin` is that under which the caller knows the service. */
export type LookupRequest = {
  accountId: string
  origin: string
  url: string
  creator: Creator
  /** Throws where no page can be asked; what is known already is answered all the same. */
  admit: () => Promise<void>
}

/**
 * Asks a page what its video is: the job at its end, also one that an earlier request began. One that
 * is not over in time is canceled.
 */
export async function lookUp(
  env: Env,
  ctx: BackgroundContext,
  asked: LookupRequest,
): Promise<Job | null> {
  const { accountId } = asked
  const urlHash = await sha256Hex(asked.url)
  const known = await findLookup(databaseOf(env, accountId), urlHash)
  if (known?.job && isAnswer(known.job)) return await hydrateJob(env.MEDIA, known.job)
  const begun = known?.job && isUsable(known.job) ? known.job.id : null
  const jobId = begun ?? (await begin(env, ctx, asked, { urlHash, replaces: known?.jobId ?? null }))
  const id = { accountId, jobId }
  const job = await awaitEnd(env, id, WAIT_MS_MAX)
  if (!job) return null
  if (isFinal(job.state)) return await hydrateJob(env.MEDIA, job)
  await cancelJob(env, accountId, jobId)
  return await awaitEnd(env, id, null)
}

/** Begins a lookup; where another request did so meanwhile, its job is the one. */
async function begin(
  env: Env,
  ctx: BackgroundContext,
  { accountId, creator, origin, url, admit }: LookupRequest,
  lookup: { urlHash: string; replaces: string | null },
): Promise<string> {
  await admit()
  const database = databaseOf(env, accountId)
  const facts = { origin, now: Date.now(), runSecondsMax: RUN_SECONDS_MAX }
  const draft = { ...planMetadata(url, facts), lookup }
  try {
    // It is no job of the caller's, who waits for it: no limit but that of requests is for it.
    const creating = { ...creator, limits: null }
    await acceptJob(env, ctx, { database, creating }, draft)
    return draft.job.id
  } catch (error) {
    const other = await findLookup(database, lookup.urlHash)
    if (other?.job && isUsable(other.job)) return other.job.id
    throw error
  }
}

/** Whether a lookup answers for its URL, now or when it is over; one that failed is made again. */
function isUsable(job: Job): boolean {
  return !isFinal(job.state) || isAnswer(job)
}

function isAnswer({ state, completedAt }: Job): boolean {
  // A clock that was set back makes no answer last longer.
  return state === "succeeded" && Math.abs(Date.now() - (completedAt ?? 0)) < FRESH_MS
}
