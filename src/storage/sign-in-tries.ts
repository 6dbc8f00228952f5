import { eq, lt, sql } from "drizzle-orm"
import type { Database } from "./database.ts"
import { signInTries } from "./schema/users.ts"

type Try = { network: string; path: string; now: number }
type Rule = { triesMax: number; windowMs: number }

/**
 * Counts a try of a network at a path, in its one row. Answers null where the rule allows the try, else
 * when the window of those before it ends; a try that is refused writes nothing.
 */
export async function countTry(
  database: Database,
  { network, path, now }: Try,
  { triesMax, windowMs }: Rule,
): Promise<number | null> {
  const place = `$."${path}"`
  const count = sql`coalesce(json_extract(${signInTries.tries}, ${`${place}[0]`}), 0)`
  const since = sql`json_extract(${signInTries.tries}, ${`${place}[1]`})`
  // A moment ahead is one that a clock was set back from.
  const isOver = sql`coalesce(${since} not between ${now - windowMs + 1} and ${now}, 1)`
  const again = sql`json_set(${signInTries.tries}, ${place}, json_array(case when ${isOver} then 1 else ${count} + 1 end, case when ${isOver} then ${now} else ${since} end))`
  const counted = await database
    .insert(signInTries)
    .values({ network, tries: { [path]: [1, now] }, lastTryAt: now })
    .onConflictDoUpdate({
      target: signInTries.network,
      set: { tries: again, lastTryAt: now },
      setWhere: sql`${isOver} or ${count} < ${triesMax}`,
    })
    .returning({ network: signInTries.network })
  if (counted.length > 0) return null
  const [row] = await database
    .select({ tries: signInTries.tries })
    .from(signInTries)
    .where(eq(signInTries.network, network))
  const [, begunAt = now] = row?.tries[path] ?? []
  return begunAt + windowMs
}

/** Removes the rows of networks that tried nothing since a moment. */
export async function removeOldTries(database: Database, before: number): Promise<void> {
  await database.delete(signInTries).where(lt(signInTries.lastTryAt, before))
}
