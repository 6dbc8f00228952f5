import { and, asc, lt, not, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "../database.ts"
import type { Database } from "../database.ts"
import { getFileKeyPrefix } from "../../domain/object-keys.ts"
import { fileAwaitedCondition } from "./input-files.ts"
import { files } from "../schema/files.ts"
import { jobs } from "../schema/jobs.ts"
import { garbage } from "../schema/uploads.ts"

const isFetched = sql`source = 'fetch' and object_key is not null`

/**
 * Returns the SQL condition that the job of a file ended before a time. The media of an open job
 * are kept, because its tasks may still read them.
 */
function hasEnded(before: number): SQL {
  return sql`exists (select 1 from ${jobs} where ${jobs.id} = ${files.jobId} and ${jobs.completedAt} < ${before})`
}

/**
 * Removes some media of fetch jobs (of all accounts) that ended before a time, oldest first, and
 * records the removal in the jobs. The sweep deletes the R2 objects later. Returns the number of
 * removed files.
 */
export async function removeFetchedMedia(
  database: Database,
  { before, now, limit }: { before: number; now: number; limit: number },
): Promise<number> {
  const { id, jobId, objectKey, completedAt } = files
  const old = await database
    .select({ id, jobId, objectKey })
    .from(files)
    .where(
      and(
        isFetched,
        lt(completedAt, before),
        hasEnded(before),
        not(fileAwaitedCondition(sql`${id}`)),
      ),
    )
    .orderBy(asc(completedAt))
    .limit(limit)
  if (old.length === 0) return 0
  const fileIds = JSON.stringify(old.map((file) => file.id))
  const jobIds = JSON.stringify([...new Set(old.map((file) => file.jobId))])
  const keys = old.flatMap((file) => (file.objectKey === null ? [] : [file.objectKey]))
  const prefixes = JSON.stringify(keys.map(getFileKeyPrefix))
  await runBatch(database, [
    database
      .insert(garbage)
      .select(sql`select value, null, ${now}, 0 from json_each(${prefixes}) where true`)
      .onConflictDoNothing(),
    database
      .update(files)
      .set({ objectKey: null, probeObjectKey: null })
      .where(sql`${files.id} in (select value from json_each(${fileIds}))`),
    database
      .update(jobs)
      .set({ mediaRemovedAt: now })
      .where(sql`${jobs.id} in (select value from json_each(${jobIds}))`),
  ])
  return old.length
}
