import { and, sql } from "drizzle-orm"
import type { AccountDatabase } from "../database.ts"
import { getListedJobColumns } from "../values/listed-jobs.ts"
import { jobs } from "../schema/jobs.ts"
import type { Job } from "../schema/jobs.ts"
import type { State } from "../../domain/states.ts"

/**
 * Returns the jobs that read outputs of a job, the jobs that read theirs, and so on: those in one of
 * the states, in the order of their creation, at most `limit`. A job in another state ends a chain.
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
    // The unary `+` excludes the index on accounts, so that SQLite reads by id.
    .where(and(sql`${jobs.id} in (${dependents})`, sql`+${jobs.accountId} = ${accountId}`))
  return rows.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}
