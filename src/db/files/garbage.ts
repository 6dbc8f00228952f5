import { and, asc, lte, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "../database.ts"
import type { Database } from "../database.ts"
import { garbage } from "../schema/uploads.ts"
import type { Garbage } from "../schema/uploads.ts"

const isUnread = sql`not exists (select 1 from task_inputs join tasks on tasks.id = task_inputs.task_id where task_inputs.file_id = ${garbage.fileId} and tasks.state = 'running')`

/**
 * Returns those of the given R2 key prefixes that are in the table `garbage`, whose objects are to
 * be deleted, and that no running task reads.
 */
export async function listGarbagePrefixesWithoutReaders(
  database: Database,
  prefixes: readonly string[],
): Promise<string[]> {
  const isSelected = sql`${garbage.prefix} in (select value from json_each(${JSON.stringify(prefixes)}))`
  const { prefix } = garbage
  const rows = await database.select({ prefix }).from(garbage).where(and(isSelected, isUnread))
  return rows.map((row) => row.prefix)
}

/**
 * Returns the R2 key prefixes of all accounts whose objects are due for deletion and that no
 * running task reads, the longest overdue first.
 */
export async function listDueGarbage(
  database: Database,
  { now, limit }: { now: number; limit: number },
): Promise<Garbage[]> {
  const due = database
    .select()
    .from(garbage)
    .where(and(lte(garbage.dueAt, now), isUnread))
  return await due.orderBy(asc(garbage.dueAt)).limit(limit)
}

/**
 * Result of a garbage collection, which deletes the R2 objects below key prefixes. `done` need no
 * further deletion, `again` are deleted once more at `dueAt`, and `failed` are retried at `dueAt`.
 */
export type GarbageCollectionResult = {
  done: string[]
  again: { prefixes: string[]; dueAt: number }
  failed: { prefixes: string[]; dueAt: number }
}

/**
 * Stores the result of a garbage collection in the table `garbage`: deletes the rows of prefixes in
 * `done`, and sets the next time for the others. The column `deletions` counts one more deletion
 * for each prefix in `again`.
 */
export async function saveGarbageCollectionResult(
  database: Database,
  { done, again, failed }: GarbageCollectionResult,
): Promise<void> {
  await runBatch(database, [
    ...(done.length > 0 ? [database.delete(garbage).where(isListed(done))] : []),
    ...(again.prefixes.length > 0
      ? [
          database
            .update(garbage)
            .set({ dueAt: again.dueAt, deletions: sql`deletions + 1` })
            .where(isListed(again.prefixes)),
        ]
      : []),
    ...(failed.prefixes.length > 0
      ? [database.update(garbage).set({ dueAt: failed.dueAt }).where(isListed(failed.prefixes))]
      : []),
  ])
}

function isListed(prefixes: readonly string[]): SQL {
  return sql`${garbage.prefix} in (select value from json_each(${JSON.stringify(prefixes)}))`
}
