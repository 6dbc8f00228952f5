import { and, eq, sql } from "drizzle-orm"
import type { SQLiteColumn } from "drizzle-orm/sqlite-core"
import type { AccountDatabase } from "../database.ts"
import { getListedJobColumns } from "../values/listed-jobs.ts"
import { jobDependencies, jobs } from "../schema/jobs.ts"
import type { Job } from "../schema/jobs.ts"
import type { State } from "../../domain/states.ts"

/**
 * Returns the direct and indirect dependents of a job that are in one of the states, in the order
 * of their creation, at most `limit`. Dependents that are reached only through a job in another
 * state are not included.
 */
export async function listDependents(
  { accountId, sql: database }: AccountDatabase,
  jobId: string,
  { states, limit }: { states: readonly State[]; limit: number },
): Promise<Job[]> {
  const isInState = sql`state in (select value from json_each(${JSON.stringify(states)}))`
  const dependents = sql`
    with recursive found (id) as (
      select ${jobId}
      union
      select jobs.id from found
      join job_dependencies on needed_job_id = found.id
      join jobs on jobs.id = job_dependencies.job_id and ${isInState}
    )
    select id from found where id <> ${jobId} limit ${limit}`
  const rows = await database
    .select(getListedJobColumns("none"))
    .from(jobs)
    // The unary `+` prevents the use of the index on `account_id`, so that SQLite looks up rows by
    // id.
    .where(and(sql`${jobs.id} in (${dependents})`, sql`+${jobs.accountId} = ${accountId}`))
  return rows.toSorted(compareOldestFirst)
}

/**
 * Neighbor of a job in a chain: a job whose outputs it reads, or a job that reads its outputs. Has
 * the fields that API records show.
 */
export type RelatedJob = Pick<Job, "id" | "kind" | "state" | "batchName">

/**
 * Returns the jobs whose outputs a job reads, and the jobs that read its outputs, at most `limit`
 * of each, in the order of their creation. Deleted jobs are absent.
 */
export async function listRelatedJobs(
  { accountId, sql: database }: AccountDatabase,
  jobId: string,
  limit: number,
): Promise<{ needed: RelatedJob[]; dependents: RelatedJob[] }> {
  function select(known: SQLiteColumn, related: SQLiteColumn) {
    return (
      database
        .select({ id: jobs.id, kind: jobs.kind, state: jobs.state, batchName: jobs.batchName })
        .from(jobDependencies)
        .innerJoin(jobs, eq(jobs.id, related))
        // The unary `+` prevents the use of the index on `account_id`, so that SQLite looks up rows
        // by id.
        .where(and(eq(known, jobId), sql`+${jobs.accountId} = ${accountId}`))
        .limit(limit)
    )
  }
  const { jobId: dependentId, neededJobId: neededId } = jobDependencies
  const [needed, dependents] = await database.batch([
    select(dependentId, neededId),
    select(neededId, dependentId),
  ])
  return {
    needed: needed.toSorted(compareOldestFirst),
    dependents: dependents.toSorted(compareOldestFirst),
  }
}

function compareOldestFirst(one: Pick<Job, "id">, other: Pick<Job, "id">): number {
  return one.id < other.id ? -1 : 1
}
