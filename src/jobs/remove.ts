import type { Env } from "../bindings/env.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import { openAccountDatabases } from "../db/database.ts"
import type { AccountDatabase } from "../db/database.ts"
import { removeFile } from "../db/files/files.ts"
import type { FileWithJob } from "../domain/snapshot.ts"
import type { File } from "../db/schema/files.ts"
import { removeJob } from "../db/jobs/job-removal.ts"
import { readJobSnapshot } from "../db/jobs/apply-transition.ts"
import { collectDueGarbage, deleteObjectsOfRemovedFiles } from "../objects/collect-garbage.ts"
import { endJobAsCanceled, killTasks } from "./cancel.ts"
import type { BackgroundContext } from "./create.ts"

/** Maximum wait of a caller for the deletion of R2 objects, in milliseconds. */
const DELETE_MS_MAX = 2000

/** Deletes a job with all its stored data. Cancels an open job first. */
export async function deleteJob(
  env: Env,
  ctx: BackgroundContext,
  accountId: string,
  jobId: string,
): Promise<void> {
  const taskIds = await endJobAsCanceled(env, accountId, jobId)
  const database = openAccountDatabases(env, accountId)
  let files: File[] = []
  try {
    const snapshot = await readJobSnapshot(database, jobId)
    if (snapshot) await removeJob(database, snapshot, Date.now())
    files = snapshot?.files ?? []
  } finally {
    // Kills the tasks only after the removal. Jobs that wait for files of the removed job then fail
    // because the files are deleted, and do not end as canceled.
    await killTasks(env, accountId, taskIds)
  }
  await deleteObjects(env, ctx, database, files)
  cleanUp(env, ctx, accountId, files)
}

/** Deletes a file. If a job was created only to upload or import the file, deletes that job too. */
export async function deleteFile(
  env: Env,
  ctx: BackgroundContext,
  { file, job }: FileWithJob,
): Promise<void> {
  if (job) return await deleteJob(env, ctx, job.accountId, job.id)
  const database = openAccountDatabases(env, file.accountId)
  await removeFile(database, file, Date.now())
  await deleteObjects(env, ctx, database, [file])
  cleanUp(env, ctx, file.accountId, [file])
}

/**
 * Deletes R2 objects before the response, because a download link serves an object even if its row
 * is deleted.
 */
async function deleteObjects(
  env: Env,
  ctx: BackgroundContext,
  database: AccountDatabase,
  files: File[],
): Promise<void> {
  const deleted = deleteObjectsOfRemovedFiles(env, database, files)
  // The deletion of a bundle with thousands of objects continues after the response.
  ctx.waitUntil(deleted)
  await Promise.race([deleted, scheduler.wait(DELETE_MS_MAX)])
}

function cleanUp(
  env: Env,
  ctx: BackgroundContext,
  accountId: string,
  files: readonly Pick<File, "id">[],
): void {
  ctx.waitUntil(collectDueGarbage(env, openAccountDatabases(env, accountId), Date.now()))
  if (files.length === 0) return
  // Informs the dispatcher, because jobs that wait for a deleted file can never start.
  ctx.waitUntil(
    getDispatcher(env, accountId).filesGone(
      accountId,
      files.map(({ id }) => id),
    ),
  )
}
