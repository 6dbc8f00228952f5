import type { Env } from "../../env.ts"
import { databaseOf } from "../../storage/database.ts"
import { removeFile } from "../../storage/files.ts"
import type { FileWithJob } from "../../storage/files.ts"
import { removeJob } from "../../storage/job-removal.ts"
import { readSnapshot } from "../../storage/transitions.ts"
import { collectGarbage } from "../upkeep/garbage.ts"
import { endCanceled, killTasks } from "./cancel.ts"
import type { BackgroundContext } from "./create.ts"

/** Cancels a job that still runs, then removes its record and all that it stored. */
export async function deleteJob(
  env: Env,
  ctx: BackgroundContext,
  accountId: string,
  jobId: string,
): Promise<void> {
  const taskIds = await endCanceled(env, accountId, jobId)
  const fileIds: string[] = []
  try {
    const database = databaseOf(env, accountId)
    const ended = await readSnapshot(database, jobId)
    fileIds.push(...(ended?.files ?? []).map(({ id }) => id))
    if (ended) await removeJob(database, ended, Date.now())
  } finally {
    // Jobs that wait for its files find them gone then, and not canceled.
    await killTasks(env, accountId, taskIds)
  }
  cleanUp(env, ctx, accountId, fileIds)
}

/** Removes a file, and its own job as `deleteJob` does. */
export async function deleteFile(
  env: Env,
  ctx: BackgroundContext,
  { file, job }: FileWithJob,
): Promise<void> {
  if (job) return await deleteJob(env, ctx, job.accountId, job.id)
  await removeFile(databaseOf(env, file.accountId), file, Date.now())
  cleanUp(env, ctx, file.accountId, [file.id])
}

function cleanUp(
  env: Env,
  ctx: BackgroundContext,
  accountId: string,
  fileIds: readonly string[],
): void {
  ctx.waitUntil(collectGarbage(env, Date.now()))
  if (fileIds.length === 0) return
  // Jobs that wait for a file which is gone can never start.
  ctx.waitUntil(env.DISPATCHER.getByName(accountId).filesGone(accountId, [...fileIds]))
}
