import type { TaskWork } from "../contract/task.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { findTaskDefinition } from "../kinds/registry.ts"
import {
  formatUtcDay,
  isLimitExceededError,
  findMostUsedLimit,
  readAccountUsage,
} from "../db/accounts/account-limits.ts"
import type { NewJobLimits, UsageOfNewJobs, ExceededLimit } from "../db/accounts/account-limits.ts"
import type { AccountDatabase } from "../db/database.ts"
import { findInputRows } from "../db/files/input-files.ts"
import type { InputIds, InputRows } from "../db/files/input-files.ts"
import { findInputRowsAndIdempotencyKey, findIdempotencyKey } from "../db/jobs/idempotency.ts"
import type { UsedIdempotencyKey } from "../db/jobs/idempotency.ts"
import type { IdempotencyKeyUse } from "../domain/job-draft.ts"
import { createJobs, encryptDraftSecrets } from "../db/jobs/create-job.ts"
import type { NewJobUsageAndLimits, JobCreator, NewJobs } from "../db/jobs/create-job.ts"
import type { TaskMessage } from "../bindings/rpc.ts"
import { addFileIds } from "../domain/job-draft.ts"
import type { JobDraft } from "../domain/job-draft.ts"
import { createLargeValueWriter } from "../db/values/large-values.ts"
import type { File } from "../db/schema/files.ts"
import { spillDraftToR2 } from "../db/values/overflow.ts"
import { enqueueJob } from "../scheduler/enqueue.ts"
import { abandonLargeValues } from "../objects/abandon-upload.ts"

/**
 * Job of an accepted request, with the ids of the file records that the job creates. `replayed`
 * means that an earlier request with the same idempotency key created the job.
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
 * Creator of a job, and the account limits that apply to the job. `limits` is null for a lookup, to
 * which only the rate limit applies.
 */
export type JobCreatorWithLimits = JobCreator & { limits: NewJobLimits | null }

/**
 * Maximum number of attempts to create a job. If the account's limits refused the job in the
 * database, but the usage that is read afterwards is within the limits, another attempt is made.
 */
const TRIES_MAX = 5

/** Execution context in which work may continue after the response. */
export type BackgroundContext = Pick<ExecutionContext, "waitUntil">

/** Returns the job of an earlier request with the same idempotency key; null if the key is free. */
export async function findAcceptedJob(
  database: AccountDatabase,
  once: IdempotencyKeyUse,
): Promise<ReplayResult | null> {
  return judgeKnown(await findIdempotencyKey(database, once.key, Date.now()), once)
}

/**
 * Reads the inputs of a new job, and the job of an earlier request with the same idempotency key,
 * in one database request. Does not query the database if the request names no inputs.
 */
export async function findInputRowsAndAcceptedJob(
  database: AccountDatabase,
  ids: InputIds,
  once: IdempotencyKeyUse | null,
): Promise<{ rows: InputRows; known: ReplayResult | null }> {
  if (!hasInputIds(ids)) return { rows: { files: [], jobs: [] }, known: null }
  if (!once) return { rows: await findInputRows(database, ids), known: null }
  const lookup = { key: once.key, now: Date.now() }
  const { rows, known } = await findInputRowsAndIdempotencyKey(database, ids, lookup)
  return { rows, known: judgeKnown(known, once) }
}

/** Reports whether a request refers to an existing file or job as an input. */
export function hasInputIds({ fileIds, jobIds }: InputIds): boolean {
  return fileIds.length > 0 || jobIds.length > 0
}

function judgeKnown(
  known: UsedIdempotencyKey | null,
  once: IdempotencyKeyUse,
): ReplayResult | null {
  if (!known) return null
  const { bodyHash, ...accepted } = known
  return bodyHash === once.bodyHash ? { ...accepted, replayed: true } : "conflict"
}

/**
 * Writes a job in one D1 batch, then calls the job's dispatcher to queue its tasks. If the call is
 * lost, the sweep finds the job later. If a request with the same idempotency key was accepted
 * meanwhile, returns the job of that request.
 */
export async function acceptJob(
  env: Env,
  ctx: BackgroundContext,
  by: { database: AccountDatabase; creating: JobCreatorWithLimits },
  draft: JobDraft,
): Promise<JobAcceptance> {
  const { once } = draft
  const accepted = await acceptJobs(env, ctx, by, { drafts: [draft], batch: null, once })
  if (accepted === "conflict" || "exceeded" in accepted || accepted.replayed) return accepted
  return { ...accepted, fileIds: accepted.drafts[0]?.job.fileIds ?? null }
}

/** Accepted jobs; `jobId` is the id of their batch, or of the only job. */
type AcceptedJobs = AcceptedJob & { drafts: readonly JobDraft[] }

/**
 * Writes all jobs of a request, or none, in one D1 batch, then calls their dispatcher to queue the
 * tasks, as `acceptJob` does.
 */
export async function acceptJobs(
  env: Env,
  ctx: BackgroundContext,
  { database, creating }: { database: AccountDatabase; creating: JobCreatorWithLimits },
  { drafts: planned, batch, once }: NewJobs,
): Promise<AcceptedJobs | "conflict" | { exceeded: ExceededLimit }> {
  const drafts = planned.map(addFileIds)
  const writer = createLargeValueWriter(env.MEDIA, database)
  try {
    const { LATHE_SECRET } = getSettings(env)
    const stored = await Promise.all(
      drafts.map(async (draft) => {
        return await spillDraftToR2(writer, await encryptDraftSecrets(LATHE_SECRET, draft))
      }),
    )
    const exceeded = await createWithin(database, { drafts: stored, batch, once }, creating)
    if (exceeded) {
      ctx.waitUntil(abandonLargeValues(env, writer))
      return { exceeded }
    }
  } catch (error) {
    ctx.waitUntil(abandonLargeValues(env, writer))
    const earlier = once && (await findAcceptedJob(database, once))
    if (earlier) return earlier === "conflict" ? earlier : { ...earlier, drafts: [] }
    throw error
  }
  const { accountId } = database
  ctx.waitUntil(enqueueJob(env, { accountId, tasks: drafts.flatMap(toTaskMessages) }))
  const jobId = batch?.id ?? drafts[0]?.job.id ?? ""
  return { jobId, fileIds: null, replayed: false, drafts }
}

/** Returns the tasks of a new job as its dispatcher queues them. */
function toTaskMessages({ job: { id: jobId, priority }, tasks }: JobDraft): TaskMessage[] {
  const jobWeight = tasks.reduce((sum, { task }) => sum + (task.weight ?? 1), 0)
  return tasks.map(({ task, pool, blocked }) => {
    const { id, weight = 1, createdAt } = task
    return { id, jobId, pool, priority, weight, jobWeight, blocked, createdAt }
  })
}

/**
 * Returns the limit that a new job would exceed if it also stored a file of this size, or null if
 * the job exceeds no limit.
 */
export async function findExceededLimit(
  database: AccountDatabase,
  limits: NewJobLimits | null,
  draft: JobDraft,
  { sizeBytes }: Pick<File, "sizeBytes">,
): Promise<ExceededLimit | null> {
  if (!limits) return null
  const demand = computeDemand([draft])
  const uploadBytes = demand.uploadBytes + (sizeBytes ?? 0)
  const verdict = await judge(database, { limits, demand: { ...demand, uploadBytes } })
  return verdict?.exceeded ? verdict.nearest : null
}

/**
 * Creates the jobs of a request. Returns null on success, else the exceeded limit of the account.
 * Tries again if the limits refused the jobs but the usage read afterwards allows them. After the
 * last attempt, returns the limit whose usage is nearest to its maximum. Throws if the account is
 * deleted.
 */
async function createWithin(
  database: AccountDatabase,
  created: NewJobs,
  { limits, ...creator }: JobCreatorWithLimits,
): Promise<ExceededLimit | null> {
  const admission = limits && { limits, demand: computeDemand(created.drafts) }
  for (let tries = 1; ; tries += 1) {
    try {
      await createJobs(database, created, { ...creator, admission })
      return null
    } catch (error) {
      if (!admission || !isLimitExceededError(error)) throw error
      const verdict = await judge(database, admission)
      if (!verdict) throw error
      if (verdict.exceeded || tries === TRIES_MAX) return verdict.nearest
    }
  }
}

/**
 * Compares the usage by new jobs with the limits of their account. Returns null if the account is
 * deleted.
 */
async function judge(database: AccountDatabase, { limits, demand }: NewJobUsageAndLimits) {
  const use = await readAccountUsage(database, demand.day)
  return use && findMostUsedLimit(limits, use, demand)
}

function computeDemand(drafts: readonly JobDraft[]): UsageOfNewJobs {
  const tasks = drafts.flatMap((draft) => draft.tasks)
  return {
    jobs: drafts.length,
    fetches: tasks.filter(({ task }) => task.work && downloadsMedia(task.work)).length,
    uploadBytes: drafts
      .flatMap(({ files }) => files)
      .reduce((sum, { objectKey, sizeBytes }) => sum + (objectKey ? (sizeBytes ?? 0) : 0), 0),
    day: formatUtcDay(drafts[0]?.job.createdAt ?? Date.now()),
  }
}

function downloadsMedia({ kind }: TaskWork): boolean {
  return findTaskDefinition(kind)?.downloadsMedia === true
}
