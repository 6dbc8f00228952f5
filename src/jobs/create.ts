import type { TaskWork } from "../contract/task.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { findTaskDefinition } from "../kinds/registry.ts"
import {
  formatUtcDay,
  isNotAdmittedError,
  compareDemandWithLimits,
  readAccountUsage,
} from "../db/accounts/account-limits.ts"
import type { NewJobLimits, JobDemand, ExceededLimit } from "../db/accounts/account-limits.ts"
import type { AccountDatabase } from "../db/database.ts"
import { findFiles } from "../db/files/files.ts"
import { findFilesAndIdempotencyKey, findIdempotencyKey } from "../db/jobs/idempotency.ts"
import type { UsedIdempotencyKey } from "../db/jobs/idempotency.ts"
import type { Idempotency } from "../domain/job-draft.ts"
import { createJob, encryptDraftSecrets } from "../db/jobs/create-job.ts"
import type { JobAdmission, JobCreator } from "../db/jobs/create-job.ts"
import { addFileIds } from "../domain/job-draft.ts"
import type { JobDraft } from "../domain/job-draft.ts"
import { openLargeValueWriter } from "../db/values/large-values.ts"
import type { File } from "../db/schema/files.ts"
import { spillDraftToR2 } from "../db/values/overflow.ts"
import { enqueueJob } from "../scheduler/enqueue.ts"
import { abandonLargeValues } from "../objects/abandon-upload.ts"

/**
 * Job of an accepted request, with the ids of the Files that it creates; `replayed` if an earlier
 * request with the same idempotency key created the job.
 */
export type AcceptedJob = {
  jobId: string
  fileIds: Record<string, string> | null
  replayed: boolean
}

/**
 * Result of a repeated idempotency key: the job, or `conflict` if the key was used with another
 * request body.
 */
type ReplayResult = AcceptedJob | "conflict"

/**
 * Outcome of a request that creates a job. `exceeded` is the limit of the account that the job
 * would exceed.
 */
export type JobAcceptance = ReplayResult | { exceeded: ExceededLimit }

/**
 * Creator of a job, and the limits of the account that apply to the job. `limits` is null for a
 * lookup, to which only the rate limit applies.
 */
export type JobCreatorWithLimits = JobCreator & { limits: NewJobLimits | null }

/**
 * Maximum number of attempts to create a job that a limit refused although the limits, read
 * afterwards, allowed it.
 */
const TRIES_MAX = 5

/** Execution context in which work may continue after the response. */
export type BackgroundContext = Pick<ExecutionContext, "waitUntil">

/** Returns the job of an earlier request with the same idempotency key; null if the key is free. */
export async function findAcceptedJob(
  database: AccountDatabase,
  once: Idempotency,
): Promise<ReplayResult | null> {
  return judgeKnown(await findIdempotencyKey(database, once.key, Date.now()), once)
}

/**
 * Reads the input files of a new job, and the job of an earlier request with the same idempotency
 * key, in one database request. Makes no request without files.
 */
export async function findFilesAndAcceptedJob(
  database: AccountDatabase,
  fileIds: readonly string[],
  once: Idempotency | null,
): Promise<{ files: File[]; known: ReplayResult | null }> {
  if (fileIds.length === 0) return { files: [], known: null }
  if (!once) return { files: await findFiles(database, fileIds), known: null }
  const lookup = { key: once.key, now: Date.now() }
  const { files, known } = await findFilesAndIdempotencyKey(database, fileIds, lookup)
  return { files, known: judgeKnown(known, once) }
}

function judgeKnown(known: UsedIdempotencyKey | null, once: Idempotency): ReplayResult | null {
  if (!known) return null
  const { bodyHash, ...accepted } = known
  return bodyHash === once.bodyHash ? { ...accepted, replayed: true } : "conflict"
}

/**
 * Writes a job in one batch, then passes it to its dispatcher by a call. If the call is lost, the
 * sweep finds the job later. If a request with the same idempotency key was accepted meanwhile,
 * returns the job of that request.
 */
export async function acceptJob(
  env: Env,
  ctx: BackgroundContext,
  { database, creating }: { database: AccountDatabase; creating: JobCreatorWithLimits },
  accepted: JobDraft,
): Promise<JobAcceptance> {
  const draft = addFileIds(accepted)
  const writer = openLargeValueWriter(env.MEDIA, database)
  try {
    const sealed = await encryptDraftSecrets(getSettings(env).LATHE_SECRET, draft)
    const exceeded = await createWithin(database, await spillDraftToR2(writer, sealed), creating)
    if (exceeded) {
      ctx.waitUntil(abandonLargeValues(env, writer))
      return { exceeded }
    }
  } catch (error) {
    ctx.waitUntil(abandonLargeValues(env, writer))
    const earlier = draft.once && (await findAcceptedJob(database, draft.once))
    if (earlier) return earlier
    throw error
  }
  const { accountId } = database
  const { id: jobId, priority, fileIds = null } = draft.job
  const jobWeight = draft.tasks.reduce((sum, { task }) => sum + (task.weight ?? 1), 0)
  const tasks = draft.tasks.map(({ task, pool, blocked }) => {
    const { id, weight = 1, createdAt } = task
    return { id, jobId, pool, priority, weight, jobWeight, blocked, createdAt }
  })
  ctx.waitUntil(enqueueJob(env, { accountId, tasks }))
  return { jobId, fileIds, replayed: false }
}

/** Returns the limit that a new job would exceed with one further file; null if it exceeds none. */
export async function findExceededLimit(
  database: AccountDatabase,
  limits: NewJobLimits | null,
  draft: JobDraft,
  { sizeBytes }: Pick<File, "sizeBytes">,
): Promise<ExceededLimit | null> {
  if (!limits) return null
  const demand = computeDemand(draft)
  const uploadBytes = demand.uploadBytes + (sizeBytes ?? 0)
  const verdict = await judge(database, { limits, demand: { ...demand, uploadBytes } })
  return verdict?.exceeded ? verdict.nearest : null
}

/**
 * Creates a job. Returns the limit that refused the job; null if the job was created. If a limit
 * refused the job and allows it when read afterwards, the creation is repeated; after the last
 * attempt, the limit of which the job would use the largest share counts. Throws if the account is
 * deleted.
 */
async function createWithin(
  database: AccountDatabase,
  draft: JobDraft,
  { limits, ...creator }: JobCreatorWithLimits,
): Promise<ExceededLimit | null> {
  const admission = limits && { limits, demand: computeDemand(draft) }
  for (let tries = 1; ; tries += 1) {
    try {
      await createJob(database, draft, { ...creator, admission })
      return null
    } catch (error) {
      if (!admission || !isNotAdmittedError(error)) throw error
      const verdict = await judge(database, admission)
      if (!verdict) throw error
      if (verdict.exceeded || tries === TRIES_MAX) return verdict.nearest
    }
  }
}

/**
 * Compares the demand of a new job with the limits of its account; null if the account is deleted.
 */
async function judge(database: AccountDatabase, { limits, demand }: JobAdmission) {
  const use = await readAccountUsage(database, demand.day)
  return use && compareDemandWithLimits(limits, use, demand)
}

function computeDemand({ job, tasks, files }: JobDraft): JobDemand {
  return {
    fetches: tasks.filter(({ task }) => task.work && downloadsMedia(task.work)).length,
    uploadBytes: files.reduce((sum, { objectKey, sizeBytes }) => {
      return sum + (objectKey ? (sizeBytes ?? 0) : 0)
    }, 0),
    day: formatUtcDay(job.createdAt),
  }
}

function downloadsMedia({ kind }: TaskWork): boolean {
  return findTaskDefinition(kind)?.downloadsMedia === true
}
