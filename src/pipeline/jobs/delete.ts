import type { Env } from "../../env.ts"
import { dispatcherOf } from "../../placement.ts"
import { databaseOf } from "../../storage/database.ts"
import type { AccountDatabase } from "../../storage/database.ts"
import { removeFile } from "../../storage/files.ts"
import type { FileWithJob } from "../../storage/files.ts"
import type { File } from "../../storage/schema/files.ts"
import { removeJob } from "../../storage/job-removal.ts"
import { readSnapshot } from "../../storage/transitions.ts"
import { collectSomeGarbage, deleteAtOnce } from "../upkeep/garbage.ts"
import { endCanceled, killTasks } from "./cancel.ts"
import type { BackgroundContext } from "./create.ts"

/** A caller waits no longer than this for objects to be deleted. */
const DELETE_MS_MAX = 2000

/** Cancels a job that still runs, then removes its record and all that it stored. */
export async function deleteJob(
  env: Env,
  ctx: BackgroundContext,
  accountId: string,
  jobId: string,
): Promise<void> {
  const taskIds = await endCanceled(env, accountId, jobId)
  const database = databaseOf(env, accountId)
  let files: File[] = []
  try {
    const ended = await readSnapshot(database, jobId)
    if (ended) await removeJob(database, ended, Date.now())
    files = ended?.files ?? []
  } finally {
    // Jobs that wait for its files find them gone then, and not canceled.
    await killTasks(env, accountId, taskIds)
  }
  await deleteObjects(env, ctx, database, files)
  cleanUp(env, ctx, accountId, files)
}

/** Removes a file, and its own job as `deleteJob` does. */
export async function deleteFile(
  env: Env,
  ctx: BackgroundContext,
  { file, job }: FileWithJob,
): Promise<void> {
  if (job) return await deleteJob(env, ctx, job.accountId, job.id)
  const database = databaseOf(env, file.accountId)
  await removeFile(database, file, Date.now())
  await deleteObjects(env, ctx, database, [file])
  cleanUp(env, ctx, file.accountId, [file])
}

/** Links open objects without a look at rows, so that these are to be gone before it is answered. */
async function deleteObjects(
  env: Env,
  ctx: BackgroundContext,
  database: AccountDatabase,
  files: File[],
): Promise<void> {
  const deleted = deleteAtOnce(env, database, files)
  // A bundle may have thousands, which go on to be deleted after the answer.
  ctx.waitUntil(deleted)
  await Promise.race([deleted, scheduler.wait(DELETE_MS_MAX)])
}

function cleanUp(
  env: Env,
  ctx: BackgroundContext,
  accountId: string,
  files: readonly Pick<File, "id">[],
): void {
  ctx.waitUntil(collectSomeGarbage(env, databaseOf(env, accountId), Date.now()))
  if (files.length === 0) return
  // Jobs that wait for a file which is gone can never start.
  ctx.waitUntil(
    dispatcherOf(env, accountId).filesGone(
      accountId,
      files.map(({ id }) => id),
    ),
  )
}
