import { and, eq, getTableColumns, isNull, lt, sql } from "drizzle-orm"
import type { TaskWork } from "../contract/task.ts"
import { runBatch } from "./database.ts"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { listedJob } from "./listed-values.ts"
import { jobWeight, workWithoutPool } from "./open-tasks.ts"
import { byNewest, isOnPage } from "./paging.ts"
import type { Page } from "./paging.ts"
import { files } from "./schema/files.ts"
import { jobs } from "./schema/jobs.ts"
import type { Job } from "./schema/jobs.ts"
import { STATES } from "./schema/states.ts"
import type { State } from "./schema/states.ts"
import { tasks } from "./schema/tasks.ts"

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
export type JobFilter = {
  kind?: string | undefined
  states?: readonly State[] | undefined
  /** What of requests is read: `none`, or all but what is long. */
  request?: "none" | "short" | undefined
}

/**
 * Jobs of the account, newest first, without what of their requests and results is long: a list is
 * bounded by how many rows it has.
 */
export async function listJobs(
  { accountId, sql: database }: AccountDatabase,
  { kind, states = STATES, request }: JobFilter,
  page: Page,
): Promise<Job[]> {
  const ofKind = kind === undefined ? sql`kind <> 'metadata'` : eq(jobs.kind, kind)
  const where = and(eq(jobs.accountId, accountId), ofKind)
  const rows = await database
    .select(listedJob(request))
    .from(jobs)
    .where(isOnPage(jobs, states, { where, page }))
  return rows.toSorted(byNewest).map((job) => (request === "short" ? markTruncated(job) : job))
}

/** A job whose row has less of its request than there is, and says so. */
function markTruncated(job: Job): Job {
  if (job.requestObjectKey === null || !(job.request instanceof Object)) return job
  return { ...job, request: Object.assign({}, job.request, { truncated: true }) }
}

/** A task that a runner took, at a fence and a moment. */
export type TakenTask = { jobId: string; taskId: string; fence: number; at: number }

/** A job that a note of this moment has begun. */
export type StartedJob = Pick<Job, "id" | "state" | "version" | "startedAt" | "attempts">

/**
 * Notes that the dispatcher has queued jobs, and that runners took tasks; what was noted before, or
 * is over, stays as it is. Answers the jobs that have begun by it.
 */
export async function noteJobs(
  database: AccountDatabase,
  noted: { accepted: string[]; taken: TakenTask[]; now: number },
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

/** The jobs of the tasks run: the first that is taken starts its job. */
function noteTaken({ accountId, sql: database }: AccountDatabase, taken: TakenTask[]) {
  const rows = JSON.stringify(taken)
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
        // By their ids, and not by an index of the account, of which nothing else is asked: hence the +.
        sql`+${jobs.accountId} = ${accountId}`,
        sql`${jobs.id} in (select value from json_each(${JSON.stringify(ids)}))`,
        isNull(jobs.acceptedAt),
      ),
    )
}

export type UnacceptedTask = {
  accountId: string
  task: {
    id: string
    jobId: string
    priority: number
    weight: number
    jobWeight: number
    createdAt: number
  }
  /** The pool that does it, or the work that says which. */
  pool: string | null
  work: TaskWork | null
}

const { id, jobId, priority, weight, createdAt } = getTableColumns(tasks)
const unacceptedTask = { id, jobId, priority, weight, jobWeight, createdAt }

/** Tasks of open jobs, of all accounts, that no dispatcher accepted since `before`, oldest first. */
export async function listUnaccepted(
  database: Database,
  before: number,
  limit: number,
): Promise<UnacceptedTask[]> {
  return await database
    .select({
      accountId: jobs.accountId,
      task: unacceptedTask,
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

/** Some accounts that have an open job, by their ids: the next after one. */
export async function listAccountsWithOpenJobs(
  database: Database,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  // One row of the index for each account, however many jobs it has.
  const next = sql`select min(account_id) from ${jobs} where state in ('waiting', 'running') and account_id >`
  const rows = await database.all<{ id: string }>(sql`
    with recursive found (id) as (
      select (${next} ${after}) union all
      select (${next} found.id) from found where found.id is not null limit ${limit})
    select id from found where id is not null`)
  return rows.map(({ id: accountId }) => accountId)
}
