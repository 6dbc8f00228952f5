import { eq, lt, sql } from "drizzle-orm"
import type { Database } from "../database.ts"
import { signInTries } from "../schema/users.ts"

type Try = { network: string; path: string; now: number }
type Rule = { requestsMax: number; windowMs: number }

/**
 * Counts a request of a client network to a sign-in route. Returns null if the rate limit allows
 * the request, else the end of the current window. A refused request writes nothing.
 */
export async function countAuthRequestIfAllowed(
  database: Database,
  { network, path, now }: Try,
  { requestsMax, windowMs }: Rule,
): Promise<number | null> {
  const place = `$."${path}"`
  const count = sql`coalesce(json_extract(${signInTries.tries}, ${`${place}[0]`}), 0)`
  const since = sql`json_extract(${signInTries.tries}, ${`${place}[1]`})`
  // A window that starts in the future is invalid: the clock was set back after the window began.
  const isOver = sql`coalesce(${since} not between ${now - windowMs + 1} and ${now}, 1)`
  const nextTries = sql`json_set(${signInTries.tries}, ${place}, json_array(case when ${isOver} then 1 else ${count} + 1 end, case when ${isOver} then ${now} else ${since} end))`
  const rows = await database
    .insert(signInTries)
    .values({ network, tries: { [path]: [1, now] }, lastTryAt: now })
    .onConflictDoUpdate({
      target: signInTries.network,
      set: { tries: nextTries, lastTryAt: now },
      setWhere: sql`${isOver} or ${count} < ${requestsMax}`,
    })
    .returning({ network: signInTries.network })
  if (rows.length > 0) return null
  const [row] = await database
    .select({ tries: signInTries.tries })
    .from(signInTries)
    .where(eq(signInTries.network, network))
  const [, begunAt = now] = row?.tries[path] ?? []
  return begunAt + windowMs
}

/** Removes the rows of client networks whose last sign-in attempt is older than a time. */
export async function removeOldSignInTries(database: Database, before: number): Promise<void> {
  await database.delete(signInTries).where(lt(signInTries.lastTryAt, before))
}
