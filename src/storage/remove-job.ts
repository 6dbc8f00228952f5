import { and, eq, sql } from "drizzle-orm"
import { groupRows, runBatch } from "./database.ts"
import type { Database } from "./database.ts"
import type { Snapshot } from "./jobs.ts"
import { prefixOf } from "./objects.ts"
import { files, garbage, idempotency, jobs, taskInputs, tasks } from "./schema.ts"

/**
 * Removes a job that is over with its tasks and files, whose objects become garbage. Its webhook
 * stays. A task of another job that reads one of the files keeps the bytes until it is done.
 */
export async function removeJob(database: Database, ended: Snapshot, now: number): Promise<void> {
  const { id: jobId, accountId } = ended.job
  const left = ended.files.flatMap(({ id, objectKey }) =>
    objectKey === null ? [] : [{ prefix: prefixOf(objectKey), fileId: id, dueAt: now }],
  )
  const ownTasks = sql`(select id from tasks where job_id = ${jobId})`
  await runBatch(database, [
    ...groupRows(left, 4).map((rows) =>
      database.insert(garbage).values(rows).onConflictDoNothing(),
    ),
    database.delete(taskInputs).where(sql`${taskInputs.taskId} in ${ownTasks}`),
    database.delete(tasks).where(eq(tasks.jobId, jobId)),
    database.delete(files).where(eq(files.jobId, jobId)),
    database
      .delete(idempotency)
      .where(and(eq(idempotency.accountId, accountId), eq(idempotency.jobId, jobId))),
    database.delete(jobs).where(eq(jobs.id, jobId)),
  ])
}
