import { and, asc, gt, lte, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "./database.ts"
import type { Database } from "./database.ts"
import { garbage } from "./schema/uploads.ts"
import type { Garbage } from "./schema/uploads.ts"

const isUnread = sql`not exists (select 1 from task_inputs join tasks on tasks.id = task_inputs.task_id where task_inputs.file_id = ${garbage.fileId} and tasks.state = 'running')`

/** Those of some prefixes that are garbage and that no running task reads. */
export async function listUnreadPrefixes(
  database: Database,
  prefixes: readonly string[],
): Promise<string[]> {
  const named = sql`${garbage.prefix} in (select value from json_each(${JSON.stringify(prefixes)}))`
  const { prefix } = garbage
  const rows = await database.select({ prefix }).from(garbage).where(and(named, isUnread))
  return rows.map((row) => row.prefix)
}

/**
 * Prefixes of all accounts that are due and that no running task reads, the longest due first.
 * None is postponed by more than `aheadMsMax`: one that is was so by a clock that was ahead.
 */
export async function listDueGarbage(
  database: Database,
  { now, aheadMsMax, limit }: { now: number; aheadMsMax: number; limit: number },
): Promise<Garbage[]> {
  function select(isDue: SQL) {
    const due = database.select().from(garbage).where(and(isDue, isUnread))
    return due.orderBy(asc(garbage.dueAt)).limit(limit)
  }
  // One condition of both would read all that is not due, too.
  const [due, ahead] = await database.batch([
    select(lte(garbage.dueAt, now)),
    select(gt(garbage.dueAt, now + aheadMsMax)),
  ])
  return [...due, ...ahead].slice(0, limit)
}

/** What became of some garbage: of `done` nothing is left, `again` is listed again, `failed` sooner. */
export type CollectedGarbage = {
  done: string[]
  again: { prefixes: string[]; dueAt: number }
  failed: { prefixes: string[]; dueAt: number }
}

/** Writes what became of garbage; what is listed again has one deletion more. */
export async function noteCollected(
  database: Database,
  { done, again, failed }: CollectedGarbage,
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
