import type { TaskWork } from "../../contract/task.ts"
import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { findTaskDefinition } from "../../kinds/registry.ts"
import { dayOf, isNotAdmitted, judgeDemand, readAccountUse } from "../../storage/account-limits.ts"
import type { CreateLimits, Demand, Exceeded } from "../../storage/account-limits.ts"
import type { AccountDatabase } from "../../storage/database.ts"
import { findFiles } from "../../storage/files.ts"
import { findFilesAndKey, findIdempotency } from "../../storage/idempotency.ts"
import type { Idempotency, KnownKey } from "../../storage/idempotency.ts"
import { createJob, sealDraft } from "../../storage/job-drafts.ts"
import type { Admission, Creator, JobDraft } from "../../storage/job-drafts.ts"
import { openValueWriter } from "../../storage/large-values.ts"
import type { File } from "../../storage/schema/files.ts"
import { spillDraft } from "../../storage/overflow.ts"
import { enqueueJob } from "../dispatch/enqueue.ts"
import { abandonValues } from "../uploads/abandon.ts"

/** `jobId` names the job that the request stands for; `replayed` where an earlier one made it. */
export type AcceptedJob = { jobId: string; replayed: boolean }

/** What a repeated create is answered: the job, or that its key was used for another request. */
type Known = AcceptedJob | "conflict"

/** `exceeded` is the limit of the account that the job would not keep. */
export type Accepted = Known | { exceeded: Exceeded }

/** Who creates a job; its account's limits, or null for one of the service's own. */
export type Creating = Creator & { limits: CreateLimits | null }

/** Creates that were refused though nothing was in the way any more when that was read. */
const TRIES_MAX = 5

export type BackgroundContext = Pick<ExecutionContext, "waitUntil">

/** The job that an earlier request with the same key made; null where the key is free. */
export async function findAccepted(
  database: AccountDatabase,
  once: Idempotency,
): Promise<Known | null> {
  return judgeKnown(await findIdempotency(database, once.key, Date.now()), once)
}

/**
 * The files that a create names, and what an earlier request with the same key made, in one trip; nothing
 * is asked for a create that names none.
 */
export async function findForCreate(
  database: AccountDatabase,
  fileIds: readonly string[],
  once: Idempotency | null,
): Promise<{ files: File[]; known: Known | null }> {
  if (fileIds.length === 0) return { files: [], known: null }
  if (!once) return { files: await findFiles(database, fileIds), known: null }
  const asked = { key: once.key, now: Date.now() }
  const { files, known } = await findFilesAndKey(database, fileIds, asked)
  return { files, known: judgeKnown(known, once) }
}

function judgeKnown(known: KnownKey | null, { bodyHash }: Idempotency): Known | null {
  if (!known) return null
  return known.bodyHash === bodyHash ? { jobId: known.jobId, replayed: true } : "conflict"
}

/**
 * Accepts a job: one batch makes it true, then a call carries it to its dispatcher. Losing that costs
 * time only, since the sweep finds the job again. Where a request with the same key came first
 * meanwhile, its job is the answer.
 */
export async function acceptJob(
  env: Env,
  ctx: BackgroundContext,
  { database, creating }: { database: AccountDatabase; creating: Creating },
  draft: JobDraft,
): Promise<Accepted> {
  const writer = openValueWriter(env.MEDIA, database)
  try {
    const sealed = await sealDraft(settingsOf(env).LATHE_SECRET, draft)
    const exceeded = await createWithin(database, await spillDraft(writer, sealed), creating)
    if (exceeded) {
      ctx.waitUntil(abandonValues(env, writer))
      return { exceeded }
    }
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
    const { id, weight = 1, createdAt } = task
    return { id, jobId, pool, priority, weight, jobWeight, blocked, createdAt }
  })
  ctx.waitUntil(enqueueJob(env, { accountId, tasks }))
  return { jobId, replayed: false }
}

/** The limit that a job with one file more would exceed as things stand; null where it keeps them. */
export async function findExceeded(
  database: AccountDatabase,
  limits: CreateLimits | null,
  draft: JobDraft,
  { sizeBytes }: Pick<File, "sizeBytes">,
): Promise<Exceeded | null> {
  if (!limits) return null
  const demand = demandOf(draft)
  const uploadBytes = demand.uploadBytes + (sizeBytes ?? 0)
  const judged = await judge(database, { limits, demand: { ...demand, uploadBytes } })
  return judged?.exceeded ? judged.nearest : null
}

/**
 * Creates a job; answers the limit that refused it. What was in the way may be gone when it is read:
 * then it is tried again, and in the end the limit counts that was nearest. Throws where the account
 * is deleted.
 */
async function createWithin(
  database: AccountDatabase,
  draft: JobDraft,
  { limits, ...creator }: Creating,
): Promise<Exceeded | null> {
  const admission = limits && { limits, demand: demandOf(draft) }
  for (let tries = 1; ; tries += 1) {
    try {
      await createJob(database, draft, { ...creator, admission })
      return null
    } catch (error) {
      if (!admission || !isNotAdmitted(error)) throw error
      const judged = await judge(database, admission)
      if (!judged) throw error
      if (judged.exceeded || tries === TRIES_MAX) return judged.nearest
    }
  }
}

/** How a job stands to the limits of its account; null where that is deleted. */
async function judge(database: AccountDatabase, { limits, demand }: Admission) {
  const use = await readAccountUse(database, demand.day)
  return use && judgeDemand(limits, use, demand)
}

function demandOf({ job, tasks, files }: JobDraft): Demand {
  return {
    fetches: tasks.filter(({ task }) => task.work && bringsIn(task.work)).length,
    uploadBytes: files.reduce((sum, { objectKey, sizeBytes }) => {
      return sum + (objectKey ? (sizeBytes ?? 0) : 0)
    }, 0),
    day: dayOf(job.createdAt),
  }
}

function bringsIn({ kind }: TaskWork): boolean {
  return findTaskDefinition(kind)?.bringsIn === true
}
