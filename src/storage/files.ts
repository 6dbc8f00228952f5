import { and, desc, eq, isNotNull, lt, sql } from "drizzle-orm"
import { runBatch } from "./database.ts"
import type { Database } from "./database.ts"
import type { Page } from "./jobs.ts"
import { prefixOf } from "./objects.ts"
import { files, garbage, jobs } from "./schema.ts"
import type { File, Job } from "./schema.ts"

/** A file and the job that took it in; a file that was an output has none of its own. */
export type FileWithJob = { file: File; job: Job | null }

/** A stored file of the account; a file still to come is none. */
export async function findFile(
  database: Database,
  accountId: string,
  id: string,
): Promise<FileWithJob | null> {
  const [found] = await database
    .select({ file: files, job: jobs })
    .from(files)
    .leftJoin(jobs, eq(jobs.id, files.id))
    .where(and(eq(files.id, id), eq(files.accountId, accountId), isNotNull(files.objectKey)))
    .limit(1)
  return found ?? null
}

/** Those of the named files that are stored and the account's; others are left out. */
export async function findFiles(
  database: Database,
  accountId: string,
  ids: string[],
): Promise<File[]> {
  return await database
    .select()
    .from(files)
    .where(
      and(
        sql`${files.id} in (select value from json_each(${JSON.stringify(ids)}))`,
        eq(files.accountId, accountId),
        isNotNull(files.objectKey),
      ),
    )
}

/** Stored files, newest first. */
export async function listFiles(
  database: Database,
  accountId: string,
  page: Page,
): Promise<FileWithJob[]> {
  return await database
    .select({ file: files, job: jobs })
    .from(files)
    .leftJoin(jobs, eq(jobs.id, files.id))
    .where(
      and(
        eq(files.accountId, accountId),
        isNotNull(files.objectKey),
        page.before ? lt(files.id, page.before) : undefined,
      ),
    )
    .orderBy(desc(files.id))
    .limit(page.limit)
    .offset(page.offset)
}

/**
 * Removes a file without a job of its own, whose objects become garbage. A task that reads it
 * keeps the bytes until it is done.
 */
export async function removeFile(database: Database, file: File, now: number): Promise<void> {
  const left = file.objectKey === null ? [] : [prefixOf(file.objectKey)]
  await runBatch(database, [
    ...left.map((prefix) =>
      database
        .insert(garbage)
        .values({ prefix, fileId: file.id, dueAt: now })
        .onConflictDoNothing(),
    ),
    database.delete(files).where(eq(files.id, file.id)),
  ])
}
