import { and, inArray, isNotNull, lt, sql } from "drizzle-orm"
import { runBatch } from "./database.ts"
import type { Database } from "./database.ts"
import { deliveries, deliveryTries, jobs, taskInputs, tasks } from "./schema.ts"

/**
 * Forgets jobs that ended before a moment, with their tasks and deliveries; their files stay. At
 * most `limit` at once; answers how many there were.
 */
export async function forgetFinishedJobs(
  database: Database,
  before: number,
  limit: number,
): Promise<number> {
  const old = await database
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(isNotNull(jobs.completedAt), lt(jobs.completedAt, before)))
    .limit(limit)
  const ids = old.map((job) => job.id)
  if (ids.length === 0) return 0
  const theirTasks = sql`(select ${tasks.id} from ${tasks} where ${inArray(tasks.jobId, ids)})`
  const theirDeliveries = sql`(select ${deliveries.id} from ${deliveries} where ${inArray(deliveries.jobId, ids)} and ${deliveries.state} <> 'waiting')`
  await runBatch(database, [
    database.delete(taskInputs).where(sql`${taskInputs.taskId} in ${theirTasks}`),
    database.delete(tasks).where(inArray(tasks.jobId, ids)),
    database.delete(deliveryTries).where(sql`${deliveryTries.deliveryId} in ${theirDeliveries}`),
    database.delete(deliveries).where(sql`${deliveries.id} in ${theirDeliveries}`),
    database.delete(jobs).where(inArray(jobs.id, ids)),
  ])
  return ids.length
}
