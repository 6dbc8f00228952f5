import { getTableColumns, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { z } from "zod"
import type { IdempotencyKeyUse, JobDraft, TaskDraft } from "../../domain/job-draft.ts"
import { accountIdIfWithinLimitsSql } from "../accounts/account-limits.ts"
import type { NewJobLimits, UsageOfNewJobs } from "../accounts/account-limits.ts"
import { splitRowsForInsert, runBatch } from "../database.ts"
import type { AccountDatabase, Statement } from "../database.ts"
import { insertIdempotencyKeyStatements } from "./idempotency.ts"
import { files } from "../schema/files.ts"
import type { File } from "../schema/files.ts"
import type { FileWithJob } from "../../domain/snapshot.ts"
import { jobDependencies, jobMetadata, jobs } from "../schema/jobs.ts"
import type { Job } from "../schema/jobs.ts"
import { insertMetadataLookupStatements } from "./metadata-lookups.ts"
import { taskInputs, tasks } from "../schema/tasks.ts"
import { insertTaskSecretsStatements, encryptTaskSecrets } from "./task-secrets.ts"
import { deleteCompletedUploadsStatements } from "../files/uploads.ts"
import { addAcceptedJobsToUsage } from "../accounts/usage.ts"
import { insertBatchStatement } from "../batches.ts"
import type { NewBatch } from "../batches.ts"

/** Returns a draft whose task secrets are encrypted with the secret of the service. */
export async function encryptDraftSecrets(
  serviceSecret: string,
  draft: JobDraft,
): Promise<JobDraft> {
  const tasks = draft.tasks.map(async (draftTask): Promise<TaskDraft> => {
    if (!draftTask.secrets) return draftTask
    const sealedSecrets = await encryptTaskSecrets(
      serviceSecret,
      draftTask.task.id,
      draftTask.secrets,
    )
    return { ...draftTask, secrets: null, sealedSecrets }
  })
  return { ...draft, tasks: await Promise.all(tasks) }
}

/** Number of bound parameters in the insert of one row into `files`. */
const FILE_COLUMNS = Object.keys(getTableColumns(files)).length

/**
 * API key and HTTP request that create a job. Both are null for a job that the service creates
 * itself.
 */
export type JobCreator = { keyId: string | null; requestId: string | null }

/** Usage that new jobs add to their account, and the limits of the account. */
export type NewJobUsageAndLimits = { limits: NewJobLimits; demand: UsageOfNewJobs }

const NOBODY: JobCreator & { admission: null } = { keyId: null, requestId: null, admission: null }

/** Jobs that one request creates. `batch` is the batch that they form; null for a single job. */
export type NewJobs = {
  drafts: readonly JobDraft[]
  batch: NewBatch | null
  /** Idempotency key of the request; null or undefined without a key. */
  once?: IdempotencyKeyUse | null | undefined
}

/**
 * Writes jobs in one D1 batch. The D1 batch fails if the jobs would exceed a limit of the account;
 * `isLimitExceededError` recognizes that error. If `admission` is null, no limits are checked and
 * the jobs are not counted as usage.
 */
export async function createJobs(
  database: AccountDatabase,
  { drafts, batch, once }: NewJobs,
  creation: JobCreator & { admission: NewJobUsageAndLimits | null } = NOBODY,
): Promise<void> {
  const { accountId, sql } = database
  const [first] = drafts
  if (!first) throw new Error("a request creates at least one job")
  const created = { jobId: batch?.id ?? first.job.id, createdAt: first.job.createdAt }
  const statements: Statement[] = [
    ...(once ? insertIdempotencyKeyStatements(database, once, created) : []),
    ...insertJobs(database, drafts, creation),
    ...(batch
      ? [insertBatchStatement(database, batch, { ...creation, jobCount: drafts.length })]
      : []),
    ...drafts.flatMap((draft) => [
      ...insertMetadata(database, draft.job),
      ...insertDependencies(database, draft),
      ...(draft.lookup ? insertMetadataLookupStatements(database, draft.lookup, created) : []),
    ]),
    ...insertTasks(database, drafts),
    ...splitRowsForInsert(
      drafts.flatMap((draft) => draft.files.map((file) => ({ ...file, accountId }))),
      FILE_COLUMNS,
    ).map((rows) => sql.insert(files).values(rows)),
  ]
  const uploadIds = drafts.flatMap(({ uploadId, valueUploads = [] }) => {
    return [uploadId ?? [], valueUploads.map(({ id }) => id)].flat()
  })
  await runBatch(sql, [...statements, ...deleteCompletedUploadsStatements(database, uploadIds)])
}

/** Returns the statements that insert the tasks of jobs with their inputs and secrets. */
function insertTasks(database: AccountDatabase, drafts: readonly JobDraft[]): Statement[] {
  const { accountId, sql } = database
  const drafted = drafts.flatMap(({ tasks: own }) => own)
  const inputs = drafted.flatMap((draftTask) =>
    draftTask.inputs.map((input) => ({ taskId: draftTask.task.id, ...input })),
  )
  return [
    ...drafted.map(({ task }) => sql.insert(tasks).values({ ...task, accountId })),
    ...splitRowsForInsert(inputs, 4).map((rows) => sql.insert(taskInputs).values(rows)),
    ...drafted.flatMap(({ task: { id: taskId, jobId }, secrets, sealedSecrets: sealed }) => {
      if (secrets) throw new Error("the secrets of a task are not sealed")
      return sealed === undefined
        ? []
        : insertTaskSecretsStatements(database, { taskId, jobId, sealed })
    }),
  ]
}

const fileRow = z.custom<File>()
const jobRow = z.custom<Job>()

/**
 * Returns the file and the job of a drafted import, with the values that `createJobs` inserts, so
 * that the rows need not be read back from the database.
 */
export function toImportedFile(
  accountId: string,
  { job, files: [file] }: JobDraft,
  creator: JobCreator,
): FileWithJob | null {
  if (!file) return null
  return {
    file: toFileRow(accountId, file),
    job: jobRow.parse({ ...emptyRow(getTableColumns(jobs)), ...job, ...creator, accountId }),
    expiresAt: null,
  }
}

/** Returns the row of a drafted file as `createJobs` inserts it. */
export function toFileRow(accountId: string, file: JobDraft["files"][number]): File {
  return fileRow.parse({ ...emptyRow(getTableColumns(files)), ...file, accountId })
}

/** Returns a row that holds the default value of each column, or null. */
function emptyRow(columns: Record<string, { default: unknown }>): Record<string, unknown> {
  const entries = Object.entries(columns)
  return Object.fromEntries(
    entries.map(([name, column]) => [name, column.default ?? null] as const),
  )
}

/**
 * Returns the statement that inserts a job's metadata into `job_metadata`, the table that serves
 * filters of lists; an empty list if the job has no metadata.
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
 * Returns the statement that inserts a job's rows in `job_dependencies`; an empty list if the job
 * reads no output of another job.
 */
function insertDependencies(
  { accountId, sql: database }: AccountDatabase,
  { job, neededJobIds = [] }: JobDraft,
): Statement[] {
  if (neededJobIds.length === 0) return []
  const rows = sql`select ${job.id}, value, ${accountId} from json_each(${JSON.stringify(neededJobIds)})`
  return [database.insert(jobDependencies).select(rows)]
}

/**
 * Returns SQL for a JSON array of the needed jobs (whose outputs the new job reads) that are still
 * open; null if the job needs none. The insert checks their states, because a job may have ended
 * since the request was read. The unary `+` prevents the use of the index on `account_id`, so that
 * SQLite looks up rows by id.
 */
function selectOpenJobIds(accountId: string, neededJobIds: readonly string[]): SQL | null {
  if (neededJobIds.length === 0) return null
  const needed = sql`select value from json_each(${JSON.stringify(neededJobIds)})`
  return sql`(select json_group_array(id) from ${jobs} where id in (${needed}) and +account_id = ${accountId} and state in ('waiting', 'running'))`
}

/**
 * Returns statements that insert jobs and count them as usage of their account. Only the first
 * insert checks the limits of the account, because a D1 batch inserts either all jobs or none.
 */
function insertJobs(
  database: AccountDatabase,
  drafts: readonly JobDraft[],
  { keyId, requestId, admission }: JobCreator & { admission: NewJobUsageAndLimits | null },
): Statement[] {
  const { accountId, sql } = database
  const inserts = drafts.map(({ job, neededJobIds = [] }, at) => {
    const waitingFor = selectOpenJobIds(accountId, neededJobIds)
    const admitted =
      admission && at === 0
        ? accountIdIfWithinLimitsSql(accountId, admission.limits, admission.demand)
        : accountId
    return sql.insert(jobs).values({ ...job, keyId, requestId, waitingFor, accountId: admitted })
  })
  return [
    ...inserts,
    ...(admission ? [addAcceptedJobsToUsage(database, { ...admission.demand, keyId })] : []),
  ]
}
