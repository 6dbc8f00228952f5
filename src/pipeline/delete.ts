import type { Env } from "../env.ts"
import { openDatabase } from "../storage/database.ts"
import { removeFile } from "../storage/files.ts"
import type { FileWithJob } from "../storage/files.ts"
import { readSnapshot } from "../storage/jobs.ts"
import { removeJob } from "../storage/remove-job.ts"
import type { Job } from "../storage/schema.ts"
import { cancelJob } from "./cancel.ts"
import { collectGarbage } from "./sweep.ts"

type Context = Pick<ExecutionContext, "waitUntil">

/** Cancels a job that still runs, then removes its record and all that it stored. */
export async function deleteJob(
  env: Env,
  ctx: Context,
  job: Pick<Job, "id" | "accountId">,
): Promise<void> {
  await cancelJob(env, job)
  const database = openDatabase(env.DB)
  const ended = await readSnapshot(database, job.id)
  if (ended) await removeJob(database, ended, Date.now())
  clearUp(env, ctx, job.accountId)
}

/** Removes a file, and its own job as `deleteJob` does. */
export async function deleteFile(
  env: Env,
  ctx: Context,
  { file, job }: FileWithJob,
): Promise<void> {
  if (job) return await deleteJob(env, ctx, job)
  await removeFile(openDatabase(env.DB), file, Date.now())
  clearUp(env, ctx, file.accountId)
}

function clearUp(env: Env, ctx: Context, accountId: string): void {
  ctx.waitUntil(collectGarbage(env, Date.now()))
  // Jobs that wait for a file which is gone can never start.
  ctx.waitUntil(env.DISPATCHER.getByName(accountId).tick(accountId))
}
