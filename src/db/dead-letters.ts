import { desc, eq, sql } from "drizzle-orm"
import { splitRowsForInsert, runBatch } from "./database.ts"
import type { Database } from "./database.ts"
import { deadLetters } from "./schema/operations.ts"
import type { DeadLetter } from "./schema/operations.ts"

const ROWS_MAX = 1000
const COLUMNS = 4

/** Stores dead letters. A queue message that is delivered twice is stored once. */
export async function insertDeadLetters(database: Database, letters: DeadLetter[]): Promise<void> {
  const groups = splitRowsForInsert(letters, COLUMNS)
  await runBatch(
    database,
    groups.map((rows) => database.insert(deadLetters).values(rows).onConflictDoNothing()),
  )
}

/** Returns a page of the dead letters of all queues, newest first, without their bodies. */
export async function listDeadLetters(
  database: Database,
  { offset, limit }: { offset: number; limit: number },
): Promise<Omit<DeadLetter, "body">[]> {
  const { id, queue, receivedAt } = deadLetters
  return await database
    .select({ id, queue, receivedAt })
    .from(deadLetters)
    .orderBy(desc(deadLetters.receivedAt), desc(deadLetters.id))
    .limit(limit)
    .offset(offset)
}

export async function findDeadLetter(database: Database, id: string): Promise<DeadLetter | null> {
  const [letter] = await database.select().from(deadLetters).where(eq(deadLetters.id, id)).limit(1)
  return letter ?? null
}

/** Deletes a dead letter. Returns false if the dead letter does not exist. */
export async function deleteDeadLetter(database: Database, id: string): Promise<boolean> {
  const rows = await database
    .delete(deadLetters)
    .where(eq(deadLetters.id, id))
    .returning({ id: deadLetters.id })
  return rows.length === 1
}

/** Deletes dead letters that are older than a time or not among the newest thousand. */
export async function deleteOldDeadLetters(database: Database, before: number): Promise<void> {
  await database
    .delete(deadLetters)
    .where(
      sql`${deadLetters.receivedAt} < ${before} or ${deadLetters.id} in (select id from ${deadLetters} order by received_at desc, id desc limit -1 offset ${ROWS_MAX})`,
    )
}

export async function countDeadLetters(database: Database): Promise<number> {
  return await database.$count(deadLetters)
}
