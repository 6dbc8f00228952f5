import { getTableColumns, sql } from "drizzle-orm"
import { z } from "zod"
import type { JobDraft, TaskDraft } from "../../domain/job-draft.ts"
import { selectAdmittedAccountId } from "../accounts/account-limits.ts"
import type { NewJobLimits, JobDemand } from "../accounts/account-limits.ts"
import { splitRowsForInsert, runBatch } from "../database.ts"
import type { AccountDatabase, Statement } from "../database.ts"
import { insertIdempotencyKey } from "./idempotency.ts"
import { files } from "../schema/files.ts"
import type { File } from "../schema/files.ts"
import type { FileWithJob } from "../../domain/snapshot.ts"
import { jobMetadata, jobs } from "../schema/jobs.ts"
import type { Job } from "../schema/jobs.ts"
import { insertLookup } from "./metadata-lookups.ts"
import { taskInputs, tasks } from "../schema/tasks.ts"
import { insertSecrets, encryptSecrets } from "./task-secrets.ts"
import { adoptUploads } from "../files/uploads.ts"
import { addAcceptedJobToUsage } from "../accounts/usage.ts"

/** Returns a draft whose task secrets are encrypted under the secret of the service. */
export async function encryptDraftSecrets(
  serviceSecret: string,
  draft: JobDraft,
): Promise<JobDraft> {
  const tasks = draft.tasks.map(async (draftTask): Promise<TaskDraft> => {
    if (!draftTask.secrets) return draftTask
    const sealedSecrets = await encryptSecrets(serviceSecret, draftTask.task.id, draftTask.secrets)
    return { ...draftTask, secrets: null, sealedSecrets }
  })
  return { ...draft, tasks: await Promise.all(tasks) }
}

/** Number of bound parameters that the insert of one row of `files` needs. */
const FILE_COLUMNS = Object.keys(getTableColumns(files)).length

/** API key and HTTP request that create a job; null for the service itself. */
export type JobCreator = { keyId: string | null; requestId: string | null }

/** Usage that a new job adds to its account, and the limits of the account. */
export type JobAdmission = { limits: NewJobLimits; demand: JobDemand }

const NOBODY: JobCreator & { admission: null } = { keyId: null, requestId: null, admission: null }

/**
 * Writes a draft in one batch. The batch fails if the job would exceed a limit of the account;
 * `isNotAdmittedError` recognizes that error. A job without an admission has no limits and is not
 * counted as usage.
 */
export async function createJob(
  database: AccountDatabase,
  draft: JobDraft,
  creation: JobCreator & { admission: JobAdmission | null } = NOBODY,
): Promise<void> {
  const { accountId, sql } = database
  const { id: jobId, createdAt } = draft.job
  const inputs = draft.tasks.flatMap((draftTask) =>
    draftTask.inputs.map((input) => ({ taskId: draftTask.task.id, ...input })),
  )
  const newFiles = draft.files.map((file) => ({ ...file, accountId }))
  const statements: Statement[] = [
    ...(draft.once ? insertIdempotencyKey(database, draft.once, { jobId, createdAt }) : []),
    ...insertJob(database, draft.job, creation),
    ...insertMetadata(database, draft.job),
    ...draft.tasks.map(({ task }) => sql.insert(tasks).values({ ...task, accountId })),
    ...splitRowsForInsert(inputs, 4).map((rows) => sql.insert(taskInputs).values(rows)),
    ...splitRowsForInsert(newFiles, FILE_COLUMNS).map((rows) => sql.insert(files).values(rows)),
    ...draft.tasks.flatMap(({ task, secrets, sealedSecrets: sealed }) => {
      if (secrets) throw new Error("the secrets of a task are not sealed")
      return sealed === undefined ? [] : insertSecrets(database, { taskId: task.id, jobId, sealed })
    }),
    ...(draft.lookup ? insertLookup(database, draft.lookup, { jobId, createdAt }) : []),
  ]
  const uploadIds = [draft.uploadId ?? [], (draft.valueUploads ?? []).map(({ id }) => id)].flat()
  await runBatch(sql, [...statements, ...adoptUploads(database, uploadIds)])
}

const fileRow = z.custom<File>()
const jobRow = z.custom<Job>()

/**
 * Returns the file of an import draft and its job as `createJob` inserts them, without a read of
 * the database.
 */
export function toImportedFile(
  accountId: string,
  { job, files: [file] }: JobDraft,
  creator: JobCreator,
): FileWithJob | null {
  if (!file) return null
  return {
    file: fileRow.parse({ ...emptyRow(getTableColumns(files)), ...file, accountId }),
    job: jobRow.parse({ ...emptyRow(getTableColumns(jobs)), ...job, ...creator, accountId }),
    expiresAt: null,
  }
}

/** Returns a row that holds the default value of each column, or null. */
function emptyRow(columns: Record<string, { default: unknown }>): Record<string, unknown> {
  const entries = Object.entries(columns)
  return Object.fromEntries(
    entries.map(([name, column]) => [name, column.default ?? null] as const),
  )
}

/**
 * Returns the statement that inserts a job's metadata into the table by which lists filter; none
 * without metadata.
 */
function insertMetadata(
  { accountId, sql: database }: AccountDatabase,
  { id, metadata }: JobDraft["job"],
): Statement[] {
  if (!metadata) return []
  const pairs = sql`select ${id}, ${accountId}, key, value from json_each(${JSON.stringify(metadata)})`
  return [database.insert(jobMetadata).select(pairs)]
}

/**
 * Returns statements that insert a job within the limits of its account, and count the job as
 * usage.
 */
function insertJob(
  database: AccountDatabase,
  job: JobDraft["job"],
  { keyId, requestId, admission }: JobCreator & { admission: JobAdmission | null },
): Statement[] {
  const { accountId, sql } = database
  const row = { ...job, keyId, requestId }
  if (!admission) return [sql.insert(jobs).values({ ...row, accountId })]
  const { limits, demand } = admission
  const { day, fetches } = demand
  return [
    sql
      .insert(jobs)
      .values({ ...row, accountId: selectAdmittedAccountId(accountId, limits, demand) }),
    addAcceptedJobToUsage(database, { day, keyId, fetches }),
  ]
}
