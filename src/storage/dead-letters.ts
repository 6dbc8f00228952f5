import { desc, eq, sql } from "drizzle-orm"
import { groupRows, runBatch } from "./database.ts"
import type { Database } from "./database.ts"
import { deadLetters } from "./schema/operations.ts"
import type { DeadLetter } from "./schema/operations.ts"

const ROWS_MAX = 1000
const COLUMNS = 4

/** Keeps messages; one that comes again is kept once. */
export async function insertDeadLetters(database: Database, letters: DeadLetter[]): Promise<void> {
  const groups = groupRows(letters, COLUMNS)
  await runBatch(
    database,
    groups.map((rows) => database.insert(deadLetters).values(rows).onConflictDoNothing()),
  )
}

/** Messages of all queues, newest first, without their texts. */
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

/** Forgets a message; false where it is not there. */
export async function deleteDeadLetter(database: Database, id: string): Promise<boolean> {
  const gone = await database
    .delete(deadLetters)
    .where(eq(deadLetters.id, id))
    .returning({ id: deadLetters.id })
  return gone.length === 1
}

/** Forgets messages that came before a moment, and those beyond the newest thousand. */
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
