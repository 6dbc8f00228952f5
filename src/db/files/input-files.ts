import { and, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { AccountDatabase } from "../database.ts"
import { files } from "../schema/files.ts"
import type { File } from "../schema/files.ts"
import { jobs } from "../schema/jobs.ts"
import type { Job } from "../schema/jobs.ts"
import { fileListingCondition } from "./files.ts"

/** Ids of the files and of the jobs that a request names as inputs. */
export type InputIds = { fileIds: readonly string[]; jobIds: readonly string[] }

/** Job with an output that a request names as an input. */
export type InputJob = Pick<Job, "id" | "kind" | "state" | "result">

/**
 * Rows of the files and jobs that a request names as inputs: listed files of the account, outputs
 * that jobs have not written yet, and all files of the named jobs.
 */
export type InputRows = { files: File[]; jobs: InputJob[] }

/**
 * Reads the files and jobs that a request names as inputs. The lists of bundle members are not
 * read. The result omits ids that the account does not have.
 */
export async function findInputRows(database: AccountDatabase, ids: InputIds): Promise<InputRows> {
  const [fileRows, jobRows] = await database.sql.batch(selectInputRowsStatements(database, ids))
  return { files: fileRows, jobs: jobRows }
}

/** Returns the statements that `findInputRows` runs. */
export function selectInputRowsStatements(
  { accountId, sql: database }: AccountDatabase,
  { fileIds, jobIds }: InputIds,
) {
  const named = sql`select value from json_each(${JSON.stringify(fileIds)})`
  const needed = sql`select value from json_each(${JSON.stringify(jobIds)})`
  const ofJobs = sql`select owned.id from ${files} owned where owned.job_id in (${needed})`
  const { id, kind, state, result } = jobs
  return [
    database
      .select()
      .from(files)
      .where(
        and(
          sql`${files.id} in (${named} union all ${ofJobs})`,
          // The unary `+` prevents the use of the index on `account_id`, so that SQLite looks up
          // rows by id.
          sql`+${files.accountId} = ${accountId}`,
          sql`(${fileListingCondition} or ${files.source} = 'output' or ${files.jobId} in (${needed}))`,
        ),
      ),
    database
      .select({ id, kind, state, result })
      .from(jobs)
      .where(and(sql`${jobs.id} in (${needed})`, sql`+${jobs.accountId} = ${accountId}`)),
  ] as const
}

/** Maximum number of jobs in a chain, in which each job reads an output of the previous job. */
export const JOB_CHAIN_LENGTH_MAX = 10

/**
 * Returns the number of open jobs in the longest chain that ends with one of the given jobs. Does
 * not count beyond JOB_CHAIN_LENGTH_MAX + 1, since such a chain is refused anyway.
 */
export async function measureLongestJobChain(
  { accountId, sql: database }: AccountDatabase,
  jobIds: readonly string[],
): Promise<number> {
  const [row] = await database.all<{ length: number | null }>(sql`
    with recursive found (job_id, length) as (
      select value, 1 from json_each(${JSON.stringify(jobIds)})
      union
      select needed_job_id, length + 1 from found
      join job_dependencies on job_dependencies.job_id = found.job_id
      join jobs on jobs.id = needed_job_id and jobs.state in ('waiting', 'running')
      where +job_dependencies.account_id = ${accountId} and length <= ${JOB_CHAIN_LENGTH_MAX}
    )
    select max(length) as length from found`)
  return row?.length ?? 0
}

/**
 * SQL condition on a row of `jobs`: an open task of another job still has to read a file of this
 * job. Such a job stays with its files, even if its retention is over.
 */
export const jobFilesAwaitedCondition = sql`exists (
  select 1 from files needed
  join task_inputs on task_inputs.file_id = needed.id
  join tasks on tasks.id = task_inputs.task_id
  where needed.job_id = ${jobs.id} and tasks.job_id <> ${jobs.id} and tasks.state in ('waiting', 'running'))`

/**
 * Returns the SQL condition that a task still has to read a file. `fileId` is SQL for the file's
 * id.
 */
export function fileAwaitedCondition(fileId: SQL): SQL {
  return sql`exists (
  select 1 from task_inputs join tasks on tasks.id = task_inputs.task_id
  where task_inputs.file_id = ${fileId} and tasks.state in ('waiting', 'running'))`
}
