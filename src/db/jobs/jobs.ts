import { and, eq, getTableColumns, isNull, lt, sql } from "drizzle-orm"
import { runBatch } from "../database.ts"
import type { AccountDatabase, Database, Statement } from "../database.ts"
import { getListedJobColumns } from "../values/listed-jobs.ts"
import { sumTaskWeightsOfJobSql } from "./open-tasks.ts"
import { compareNewestFirst, buildStatesPageCondition, metadataPageCondition } from "../paging.ts"
import type { MetadataFilter, ListPageQuery } from "../paging.ts"
import { files } from "../schema/files.ts"
import { jobs } from "../schema/jobs.ts"
import type { Job } from "../schema/jobs.ts"
import { STATES } from "../../domain/states.ts"
import type { State } from "../../domain/states.ts"
import { tasks } from "../schema/tasks.ts"

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

/** Filter of a list of jobs. An empty filter selects all jobs except metadata lookups. */
export type JobFilter = {
  kind?: string | undefined
  states?: readonly State[] | undefined
  /** Key and value that the job's metadata must contain. */
  pair?: MetadataFilter | undefined
  /** Part of the requests to read: `none`, or `short` for only the short fields. */
  request?: "none" | "short" | undefined
}

/**
 * Returns a page of the account's jobs, newest first. Long parts of requests and results are
 * omitted.
 */
export async function listJobs(
  { accountId, sql: database }: AccountDatabase,
  { kind, states = STATES, pair, request }: JobFilter,
  page: ListPageQuery,
): Promise<Job[]> {
  const ofKind = kind === undefined ? sql`kind <> 'metadata'` : eq(jobs.kind, kind)
  const where = and(eq(jobs.accountId, accountId), ofKind)
  const rows = await database
    .select(getListedJobColumns(request))
    .from(jobs)
    .where(
      pair
        ? metadataPageCondition(jobs, states, { where, page, accountId, pair })
        : buildStatesPageCondition(jobs, states, { where, page }),
    )
  return rows
    .toSorted(compareNewestFirst)
    .map((job) => (request === "short" ? markTruncated(job) : job))
}

/** Adds `truncated: true` to a job's request if the row holds only a part of the request. */
function markTruncated(job: Job): Job {
  if (job.requestObjectKey === null || !(job.request instanceof Object)) return job
  return { ...job, request: Object.assign({}, job.request, { truncated: true }) }
}

/** Start of a task on a runner: ids of the task and its job, fence, and time in milliseconds. */
export type TaskStart = { jobId: string; taskId: string; fence: number; at: number }

/**
 * Job that `storeAcceptedAndStartedJobs` has started, or whose number of attempts it has raised.
 */
export type StartedJob = Pick<Job, "id" | "state" | "version" | "startedAt" | "attempts">

/**
 * Stores that the dispatcher has accepted jobs, and that runners have started tasks. The first
 * started task starts its job; a task that starts again raises the job's `attempts`. Returns the
 * jobs that started or whose `attempts` rose.
 */
export async function storeAcceptedAndStartedJobs(
  database: AccountDatabase,
  noted: { accepted: string[]; taken: TaskStart[]; now: number },
): Promise<StartedJob[]> {
  const { accepted, taken, now } = noted
  const others = accepted.length > 0 ? [noteAccepted(database, accepted, now)] : []
  if (taken.length === 0) {
    await runBatch(database.sql, others)
    return []
  }
  const [started] = await database.sql.batch([...noteTaken(database, taken), ...others])
  return started
}

/**
 * Returns statements that start the jobs of started tasks. A job starts when the first of its tasks
 * starts.
 */
function noteTaken({ accountId, sql: database }: AccountDatabase, tasksTaken: TaskStart[]) {
  const rows = JSON.stringify(tasksTaken)
  const jobIds = sql`(select ${tasks.jobId} from json_each(${rows}) as taken join ${tasks} on ${tasks.id} = taken.value ->> 'taskId' and ${tasks.fence} = taken.value ->> 'fence' where ${tasks.state} = 'running' and ${tasks.accountId} = ${accountId})`
  const takenAt = sql`(select min(value ->> 'at') from json_each(${rows}) where value ->> 'jobId' = ${jobs.id})`
  const attempts = sql`(select 1 + max(failures + interruptions + hand_overs) from ${tasks} where ${tasks.jobId} = ${jobs.id})`
  return [
    database
      .update(jobs)
      .set({
        state: "running",
        version: sql`version + 1`,
        startedAt: sql`coalesce(started_at, ${takenAt})`,
        attempts,
      })
      .where(
        and(
          sql`${jobs.id} in ${jobIds}`,
          sql`(${jobs.state} = 'waiting' or (${jobs.state} = 'running' and ${jobs.attempts} < ${attempts}))`,
        ),
      )
      .returning({
        id: jobs.id,
        state: jobs.state,
        version: jobs.version,
        startedAt: jobs.startedAt,
        attempts: jobs.attempts,
      }),
    database
      .update(files)
      .set({ state: "running" })
      .where(and(sql`${files.jobId} in ${jobIds}`, eq(files.state, "waiting"))),
  ] as const
}

function noteAccepted(
  { accountId, sql: database }: AccountDatabase,
  ids: string[],
  now: number,
): Statement {
  return database
    .update(jobs)
    .set({ acceptedAt: now })
    .where(
      and(
        // The unary `+` prevents the use of the index on `account_id`, so that SQLite looks up rows
        // by id.
        sql`+${jobs.accountId} = ${accountId}`,
        sql`${jobs.id} in (select value from json_each(${JSON.stringify(ids)}))`,
        isNull(jobs.acceptedAt),
      ),
    )
}

/**
 * Task of a job that no dispatcher has accepted yet, with the fields that a dispatcher needs to
 * queue the task.
 */
export type UnacceptedTask = {
  accountId: string
  task: {
    id: string
    jobId: string
    priority: number
    weight: number
    jobWeight: number
    createdAt: number
    pool: string
  }
}

const { id, jobId, priority, weight, createdAt, pool } = getTableColumns(tasks)
const unacceptedTask = {
  id,
  jobId,
  priority,
  weight,
  jobWeight: sumTaskWeightsOfJobSql,
  createdAt,
  pool,
}

/**
 * Returns the tasks of open jobs of all accounts that were created before a time and that no
 * dispatcher has accepted, oldest first.
 */
export async function listUnacceptedTasks(
  database: Database,
  before: number,
  limit: number,
): Promise<UnacceptedTask[]> {
  return await database
    .select({ accountId: jobs.accountId, task: unacceptedTask })
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

/**
 * Returns a page of the ids of accounts with an open job, in ascending order. The page begins with
 * the first id greater than `after`.
 */
export async function listAccountsWithOpenJobs(
  database: Database,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  // The query skips from account to account in the index, so that its cost does not depend on the
  // number of jobs.
  const next = sql`select min(account_id) from ${jobs} where state in ('waiting', 'running') and account_id >`
  const rows = await database.all<{ id: string }>(sql`
    with recursive found (id) as (
      select (${next} ${after}) union all
      select (${next} found.id) from found where found.id is not null limit ${limit})
    select id from found where id is not null`)
  return rows.map(({ id: accountId }) => accountId)
}
