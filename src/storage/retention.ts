import { and, inArray, isNotNull, lt, sql } from "drizzle-orm"
import { runBatch } from "./database.ts"
import type { Database } from "./database.ts"
import { deliveries, deliveryTries, jobs, taskInputs, tasks } from "./schema.ts"

/** D1 takes 100 bound parameters a statement. */
const ROWS_MAX = 90

/** Forgets some of the jobs that ended before a moment, with their tasks; their files stay. */
export async function forgetFinishedJobs(database: Database, before: number): Promise<void> {
  const old = await database
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(isNotNull(jobs.completedAt), lt(jobs.completedAt, before)))
    .limit(ROWS_MAX)
  const ids = old.map((job) => job.id)
  if (ids.length === 0) return
  const theirTasks = sql`(select ${tasks.id} from ${tasks} where ${inArray(tasks.jobId, ids)})`
  await runBatch(database, [
    database.delete(taskInputs).where(sql`${taskInputs.taskId} in ${theirTasks}`),
    database.delete(tasks).where(inArray(tasks.jobId, ids)),
    database.delete(jobs).where(inArray(jobs.id, ids)),
  ])
}

/** Forgets some of the deliveries that ended before a moment, with their tries. */
export async function forgetEndedDeliveries(database: Database, before: number): Promise<void> {
  const old = await database
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(and(isNotNull(deliveries.completedAt), lt(deliveries.completedAt, before)))
    .limit(ROWS_MAX)
  const ids = old.map((delivery) => delivery.id)
  if (ids.length === 0) return
  await runBatch(database, [
    database.delete(deliveryTries).where(inArray(deliveryTries.deliveryId, ids)),
    database.delete(deliveries).where(inArray(deliveries.id, ids)),
  ])
}
