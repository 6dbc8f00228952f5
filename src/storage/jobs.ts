import { and, desc, eq, getTableColumns, inArray, isNull, lt, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { z } from "zod"
import type { JobKind, State } from "../contract/state.ts"
import { groupRows, runBatch } from "./database.ts"
import type { Database, Statement } from "./database.ts"
import {
  deliveries,
  files,
  garbage,
  idempotency,
  jobs,
  taskInputs,
  tasks,
  uploads,
} from "./schema.ts"
import type { File, Job, Task } from "./schema.ts"

/** A task to come; `blocked` where an input of it is still on its way. */
export type NewTask = {
  task: typeof tasks.$inferInsert
  inputs: { key: string; fileId: string }[]
  blocked: boolean
}

/** All that one accepted request writes: its job, the tasks, the files to come, the upload it uses. */
export type JobDraft = {
  job: typeof jobs.$inferInsert
  tasks: NewTask[]
  files: (typeof files.$inferInsert)[]
  uploadId?: string
  /** What lets the request be sent again without a second job. */
  idempotency?: { key: string; bodyHash: string }
}

/** How long a create may be sent again and answered with the job it made. */
export const IDEMPOTENCY_MS = 24 * 3_600_000

/** Writes a draft in one batch. */
export async function createJob(database: Database, draft: JobDraft): Promise<void> {
  const inputs = draft.tasks.flatMap((made) =>
    made.inputs.map((input) => ({ taskId: made.task.id, ...input })),
  )
  const statements: Statement[] = [
    database.insert(jobs).values(draft.job),
    ...draft.tasks.map(({ task }) => database.insert(tasks).values(task)),
    ...groupRows(inputs, 3).map((rows) => database.insert(taskInputs).values(rows)),
    ...groupRows(draft.files, 18).map((rows) => database.insert(files).values(rows)),
  ]
  if (draft.idempotency) {
    const { accountId, id: jobId, createdAt } = draft.job
    const { key, bodyHash } = draft.idempotency
    statements.unshift(
      database
        .delete(idempotency)
        .where(
          and(
            eq(idempotency.accountId, accountId),
            eq(idempotency.key, key),
            lt(idempotency.createdAt, createdAt - IDEMPOTENCY_MS),
          ),
        ),
      database.insert(idempotency).values({ accountId, key, bodyHash, jobId, createdAt }),
    )
  }
  if (draft.uploadId) {
    statements.push(database.delete(uploads).where(eq(uploads.id, draft.uploadId)))
  }
  await runBatch(database, statements)
}

export async function findJob(
  database: Database,
  accountId: string,
  id: string,
): Promise<Job | null> {
  const [job] = await database
    .select()
    .from(jobs)
    .where(and(eq(jobs.id, id), eq(jobs.accountId, accountId)))
    .limit(1)
  return job ?? null
}

export type Page = { limit: number; offset: number; before?: string | undefined }

/** Which jobs to list; all where nothing is named. */
export type JobFilter = { kind?: JobKind | undefined; states?: readonly State[] | undefined }

/** A result above this many characters is listed without the members of its bundles. */
const LISTED_RESULT_LENGTH_MAX = 64 * 1024

const listed = {
  ...getTableColumns(jobs),
  result:
    sql`case when length(${jobs.result}) > ${LISTED_RESULT_LENGTH_MAX} then (select json_object('outputs', json_group_array(json_remove(value, '$.files'))) from json_each(${jobs.result}, '$.outputs')) else ${jobs.result} end`.mapWith(
      jobs.result,
    ),
}

/** A job as lists have it. */
export function asListed(job: Job): Job {
  const { result } = job
  if (JSON.stringify(result).length <= LISTED_RESULT_LENGTH_MAX) return job
  const outputs = (result?.outputs ?? []).map((output) => {
    const { files: _, ...others } = output
    return others
  })
  return { ...job, result: { outputs } }
}

/** Jobs of an account, newest first; those whose outputs have many files come without these. */
export async function listJobs(
  database: Database,
  accountId: string,
  { kind, states }: JobFilter,
  page: Page,
): Promise<Job[]> {
  return await database
    .select(listed)
    .from(jobs)
    .where(
      and(
        eq(jobs.accountId, accountId),
        kind && eq(jobs.kind, kind),
        states && inArray(jobs.state, [...states]),
        page.before ? lt(jobs.id, page.before) : undefined,
      ),
    )
    .orderBy(desc(jobs.id))
    .limit(page.limit)
    .offset(page.offset)
}

/** One consistent read of a job, its tasks and its files; what moves are computed from. */
export type Snapshot = { job: Job; tasks: Task[]; files: File[] }

export async function readSnapshot(database: Database, jobId: string): Promise<Snapshot | null> {
  const [[job], jobTasks, jobFiles] = await database.batch([
    database.select().from(jobs).where(eq(jobs.id, jobId)),
    database.select().from(tasks).where(eq(tasks.jobId, jobId)),
    database.select().from(files).where(eq(files.jobId, jobId)),
  ])
  return job ? { job, tasks: jobTasks, files: jobFiles } : null
}

/** What one move of a job writes; pure code makes it from a snapshot. */
export type Moves = {
  job: Partial<Job>
  tasks: { id: string; set: Partial<Task> }[]
  files: { id: string; set: Partial<File> }[]
  garbage: { prefix: string; fileId?: string }[]
  /** The webhook that tells of the job's end. */
  delivery?: typeof deliveries.$inferInsert
}

/**
 * Writes the moves in one batch that holds only if the job is still at `version`, and raises it.
 * False where somebody moved the job meanwhile: read again and compute anew.
 */
export async function moveJob(
  database: Database,
  moved: { jobId: string; version: number; moves: Moves; now: number },
): Promise<boolean> {
  const { moves } = moved
  const unmoved = jobIsAt(database, moved.jobId, moved.version)
  const raise = database
    .update(jobs)
    .set({ ...moves.job, version: moved.version + 1 })
    .where(and(eq(jobs.id, moved.jobId), eq(jobs.version, moved.version)))
    .returning({ id: jobs.id })
  const results = await runBatch(database, [
    ...moves.tasks.map(({ id, set }) =>
      database
        .update(tasks)
        .set(set)
        .where(and(eq(tasks.id, id), unmoved)),
    ),
    ...moves.files.map(({ id, set }) =>
      database
        .update(files)
        .set(set)
        .where(and(eq(files.id, id), unmoved)),
    ),
    ...moves.garbage.map(({ prefix, fileId }) =>
      database
        .insert(garbage)
        .select(sql`select ${prefix}, ${fileId ?? null}, ${moved.now}, 0 where ${unmoved}`)
        .onConflictDoNothing(),
    ),
    ...(moves.delivery ? [insertDelivery(database, moves.delivery, unmoved)] : []),
    raise,
  ])
  return z.array(z.unknown()).parse(results.at(-1)).length === 1
}

function insertDelivery(
  database: Database,
  made: typeof deliveries.$inferInsert,
  unmoved: SQL,
): Statement {
  const { id, accountId, jobId, type, url, body, state, nextTryAt, createdAt } = made
  return database
    .insert(deliveries)
    .select(
      sql`select ${id}, ${accountId}, ${jobId}, ${type}, ${url}, ${body}, ${state}, 0, ${nextTryAt}, ${createdAt}, null where ${unmoved}`,
    )
    .onConflictDoNothing()
}

function jobIsAt(database: Database, jobId: string, version: number): SQL {
  const found = database
    .select({ one: sql`1` })
    .from(jobs)
    .where(and(eq(jobs.id, jobId), eq(jobs.version, version)))
  return sql`exists ${found}`
}

/** Notes that the dispatcher holds these jobs; those noted before stay as they are. */
export async function noteAccepted(database: Database, ids: string[], now: number): Promise<void> {
  await database
    .update(jobs)
    .set({ acceptedAt: now })
    .where(
      and(
        sql`${jobs.id} in (select value from json_each(${JSON.stringify(ids)}))`,
        isNull(jobs.acceptedAt),
      ),
    )
}

/** Waiting tasks of open jobs that no dispatcher has accepted since `before`, oldest first. */
export async function listUnaccepted(database: Database, before: number, limit: number) {
  return await database
    .select({
      accountId: jobs.accountId,
      task: { id: tasks.id, jobId: tasks.jobId, priority: tasks.priority },
    })
    .from(jobs)
    .innerJoin(tasks, eq(tasks.jobId, jobs.id))
    .where(
      and(
        sql`accepted_at is null and ${jobs.state} in ('waiting', 'running')`,
        lt(jobs.createdAt, before),
      ),
    )
    .orderBy(jobs.createdAt)
    .limit(limit)
}

export async function listAccountsWithOpenJobs(database: Database): Promise<string[]> {
  const rows = await database
    .selectDistinct({ accountId: jobs.accountId })
    .from(jobs)
    .where(sql`state in ('waiting', 'running')`)
  return rows.map((row) => row.accountId)
}
