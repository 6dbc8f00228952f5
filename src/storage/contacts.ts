import { and, eq, sql } from "drizzle-orm"
import { directoryOf } from "./database.ts"
import type { AccountDatabase } from "./database.ts"
import type { Env } from "../env.ts"
import { isOnPage } from "./paging.ts"
import { jobs } from "./schema/jobs.ts"
import { STATES } from "./schema/states.ts"
import { users } from "./schema/users.ts"

/** The address of an account's user; null for an account without one. */
export async function findEmail(env: Pick<Env, "DB">, accountId: string): Promise<string | null> {
  const [user] = await directoryOf(env)
    .select({ email: users.email })
    .from(users)
    .where(eq(users.accountId, accountId))
    .limit(1)
  return user?.email ?? null
}

/** Where the account last reached the service; null where it never made a job. */
export async function findLastOrigin({
  accountId,
  sql: database,
}: AccountDatabase): Promise<string | null> {
  const where = and(eq(jobs.accountId, accountId), sql`kind <> 'metadata'`)
  const [row] = await database
    .select({ origin: jobs.origin })
    .from(jobs)
    .where(isOnPage(jobs, STATES, { where, page: { limit: 1, offset: 0 } }))
  return row?.origin ?? null
}
