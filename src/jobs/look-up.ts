import { sha256Hex } from "../platform/crypto/sha256.ts"
import type { Env } from "../bindings/env.ts"
import { draftMetadataLookupJob } from "../kinds/metadata/plan.ts"
import { openAccountDatabases } from "../db/database.ts"
import { findMetadataLookup } from "../db/jobs/metadata-lookups.ts"
import type { JobCreator } from "../db/jobs/create-job.ts"
import type { Job } from "../db/schema/jobs.ts"
import { isFinalState } from "../domain/states.ts"
import { hydrateJob } from "../db/values/hydrate.ts"
import { cancelJob } from "./cancel.ts"
import { acceptJob } from "./create.ts"
import type { BackgroundContext } from "./create.ts"
import { awaitJobEnd } from "./wait.ts"

/** Time for which the result of a metadata lookup is reused for the same URL, in milliseconds. */
export const LOOKUP_REUSE_MS = 60_000
const WAIT_MS_MAX = 29_000
/**
 * Time limit of yt-dlp for a lookup, in seconds. The caller waits longer: for a slot, the start of
 * a container, and another attempt.
 */
const LOOKUP_RUN_SECONDS = 25

/**
 * Request for the metadata of a web page's media. `origin` is the address at which the caller
 * reached the service.
 */
export type MetadataLookupRequest = {
  accountId: string
  origin: string
  url: string
  creator: JobCreator
  /**
   * Checks whether the caller may request a page, and throws if not. A request that uses an earlier
   * lookup skips this check.
   */
  admit: () => Promise<void>
}

/**
 * Reads the metadata of a web page's media by a metadata job. Returns the finished job, or the job
 * of an earlier request for the same URL. Cancels a job that does not end in time.
 */
export async function lookUpPageMetadata(
  env: Env,
  ctx: BackgroundContext,
  request: MetadataLookupRequest,
): Promise<Job | null> {
  const { accountId } = request
  const urlHash = await sha256Hex(request.url)
  const earlier = await findMetadataLookup(openAccountDatabases(env, accountId), urlHash)
  if (earlier?.job && isAnswer(earlier.job)) return await hydrateJob(env.MEDIA, earlier.job)
  const usableId = earlier?.job && isUsable(earlier.job) ? earlier.job.id : null
  const jobId =
    usableId ?? (await begin(env, ctx, request, { urlHash, replaces: earlier?.jobId ?? null }))
  const id = { accountId, jobId }
  const job = await awaitJobEnd(env, id, WAIT_MS_MAX)
  if (!job) return null
  if (isFinalState(job.state)) return await hydrateJob(env.MEDIA, job)
  await cancelJob(env, accountId, jobId)
  return await awaitJobEnd(env, id, null)
}

/**
 * Creates a metadata job and returns the job's id. Returns the id of another request's job if that
 * request has created a job for the same URL meanwhile.
 */
async function begin(
  env: Env,
  ctx: BackgroundContext,
  { accountId, creator, origin, url, admit }: MetadataLookupRequest,
  lookup: { urlHash: string; replaces: string | null },
): Promise<string> {
  await admit()
  const database = openAccountDatabases(env, accountId)
  const facts = { origin, now: Date.now(), runSecondsMax: LOOKUP_RUN_SECONDS }
  const draft = { ...draftMetadataLookupJob(url, facts), lookup }
  try {
    // Only the rate limit applies, because the caller waits for the result and the job is not
    // listed.
    const creating = { ...creator, limits: null }
    await acceptJob(env, ctx, { database, creating }, draft)
    return draft.job.id
  } catch (error) {
    const other = await findMetadataLookup(database, lookup.urlHash)
    if (other?.job && isUsable(other.job)) return other.job.id
    throw error
  }
}

/**
 * Reports whether a new request for the same URL can use a metadata job: the job still runs or has
 * a recent result. A failed job is not used.
 */
function isUsable(job: Job): boolean {
  return !isFinalState(job.state) || isAnswer(job)
}

function isAnswer({ state, completedAt }: Job): boolean {
  // Uses the absolute difference. After the clock was set back the age is negative, which would
  // otherwise prolong the reuse.
  return state === "succeeded" && Math.abs(Date.now() - (completedAt ?? 0)) < LOOKUP_REUSE_MS
}
