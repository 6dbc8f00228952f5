import { and, desc, eq, getTableColumns, inArray, isNull, lt, sql } from "drizzle-orm"
import type { TaskWork } from "../contract/task.ts"
import type { AccountDatabase, Database } from "./database.ts"
import { pageCondition } from "./paging.ts"
import type { Page } from "./paging.ts"
import { jobs } from "./schema/jobs.ts"
import type { Job } from "./schema/jobs.ts"
import type { State } from "./schema/states.ts"
import { tasks } from "./schema/tasks.ts"
import { workWithoutPool } from "./tasks.ts"

export async function findJob(
  { accountId, sql: database }: AccountDatabase,
  id: string,
): Promise<Job | null> {
  const [job] = await database
    .select()
    .from(jobs)
    .where(and(eq(jobs.id, id), eq(jobs.accountId, accountId)))
    .limit(1)
  return job ?? null
}

/** Which jobs to list; all where nothing is named. */
export type JobFilter = { kind?: string | undefined; states?: readonly State[] | undefined }

/** A result above this many characters is listed without the members of its bundles. */
const LISTED_RESULT_LENGTH_MAX = 64 * 1024

const listed = {
  ...getTableColumns(jobs),
  result:
    sql`case when length(${jobs.result}) > ${LISTED_RESULT_LENGTH_MAX} then (select json_object('outputs', json_group_array(json_remove(value, '$.files'))) from json_each(${jobs.result}, '$.outputs')) else ${jobs.result} end`.mapWith(
      jobs.result,
    ),
}

/** Jobs of the account, newest first; those whose outputs have many files come without these. */
export async function listJobs(
  { accountId, sql: database }: AccountDatabase,
  { kind, states }: JobFilter,
  page: Page,
): Promise<Job[]> {
  return await database
    .select(listed)
    .from(jobs)
    .where(
      and(
        eq(jobs.accountId, accountId),
        kind === undefined ? undefined : eq(jobs.kind, kind),
        states && inArray(jobs.state, [...states]),
        pageCondition(jobs, page),
      ),
    )
    .orderBy(desc(jobs.id))
    .limit(page.limit)
    .offset(page.offset)
}

/** Notes that the dispatcher has queued these jobs; those noted before stay as they are. */
export async function noteAccepted(
  { accountId, sql: database }: AccountDatabase,
  ids: string[],
  now: number,
): Promise<void> {
  await database
    .update(jobs)
    .set({ acceptedAt: now })
    .where(
      and(
        eq(jobs.accountId, accountId),
        sql`${jobs.id} in (select value from json_each(${JSON.stringify(ids)}))`,
        isNull(jobs.acceptedAt),
      ),
    )
}

export type UnacceptedTask = {
  accountId: string
  task: { id: string; jobId: string; priority: number }
  /** The pool that does it, or the work that says which. */
  pool: string | null
  work: TaskWork | null
}

/** Tasks of open jobs, of all accounts, that no dispatcher accepted since `before`, oldest first. */
export async function listUnaccepted(
  database: Database,
  before: number,
  limit: number,
): Promise<UnacceptedTask[]> {
  return await database
    .select({
      accountId: jobs.accountId,
      task: { id: tasks.id, jobId: tasks.jobId, priority: tasks.priority },
      pool: tasks.pool,
      work: workWithoutPool,
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
