import { and, asc, eq, gt, lte, or, sql } from "drizzle-orm"
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
  return await database
    .select()
    .from(garbage)
    .where(and(or(lte(garbage.dueAt, now), gt(garbage.dueAt, now + aheadMsMax)), isUnread))
    .orderBy(asc(garbage.dueAt))
    .limit(limit)
}

export async function postponeGarbage(
  database: Database,
  prefix: string,
  next: { dueAt: number; passes: number },
): Promise<void> {
  await database.update(garbage).set(next).where(eq(garbage.prefix, prefix))
}

export async function deleteGarbage(database: Database, prefix: string): Promise<void> {
  await database.delete(garbage).where(eq(garbage.prefix, prefix))
}
