import pMap from "p-map"
import type { Env } from "../bindings/env.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import { deleteBatchRow, findBatch } from "../db/batches.ts"
import type { BatchWithJobs } from "../domain/batch.ts"
import { openAccountDatabases } from "../db/database.ts"
import { removeJobs } from "../db/jobs/job-removal.ts"
import type { Job } from "../db/schema/jobs.ts"
import { isFinalState } from "../domain/states.ts"
import { collectDueGarbage } from "../objects/collect-garbage.ts"
import { writeBatchDeliveryBodies } from "../webhooks/batch-event.ts"
import { endJobAsCanceled, killTasks } from "./cancel.ts"
import type { BackgroundContext } from "./create.ts"

/** Number of jobs that are canceled concurrently. */
const CANCELED_AT_ONCE = 4

/**
 * Cancels the open jobs of a list, dependents first, so that no job fails because its input was
 * canceled. Returns the number of jobs that this call canceled. A list has at most BATCH_JOBS_MAX
 * jobs, because each job takes about 14 of the 1,000 D1 statements of an invocation.
 */
export async function cancelJobs(
  env: Env,
  accountId: string,
  jobs: readonly Pick<Job, "id" | "state">[],
): Promise<number> {
  const ended = await endOpenJobs(env, accountId, jobs)
  await killTasks(env, accountId, ended.flat())
  return ended.filter((taskIds) => taskIds.length > 0).length
}

/**
 * Sets the open jobs of a list to canceled, dependents before the jobs whose outputs they read.
 * Returns for each open job the ids of its tasks, which may still run. The ids are absent for a job
 * that ended meanwhile.
 */
async function endOpenJobs(
  env: Env,
  accountId: string,
  jobs: readonly Pick<Job, "id" | "state">[],
): Promise<string[][]> {
  const open = jobs.filter(({ state }) => !isFinalState(state))
  return await pMap(
    open.toReversed(),
    async ({ id }) => await endJobAsCanceled(env, accountId, id),
    { concurrency: CANCELED_AT_ONCE },
  )
}

/** Deletes a batch and its jobs with all their stored data. Cancels open jobs first. */
export async function deleteBatch(
  env: Env,
  ctx: BackgroundContext,
  { batch: { id, accountId }, jobs }: BatchWithJobs,
): Promise<void> {
  const database = openAccountDatabases(env, accountId)
  const taskIds = await endOpenJobs(env, accountId, jobs)
  // Writes the body of the batch's webhook before the jobs are removed, because the body contains
  // the records of the jobs.
  await writeBatchDeliveryBodies(env, database, id)
  const fileIds = await removeJobs(
    database,
    jobs.map((job) => job.id),
  )
  await deleteBatchRow(database, id)
  await killTasks(env, accountId, taskIds.flat())
  if (fileIds.length > 0) ctx.waitUntil(getDispatcher(env, accountId).filesGone(accountId, fileIds))
  ctx.waitUntil(collectDueGarbage(env, database, Date.now()))
}

/** Reads a batch of the account; null if the account has no such batch. */
export async function readBatch(
  env: Env,
  { accountId, batchId }: { accountId: string; batchId: string },
): Promise<BatchWithJobs | null> {
  return await findBatch(openAccountDatabases(env, accountId), batchId)
}
