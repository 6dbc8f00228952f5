import { and, eq, sql } from "drizzle-orm"
import { openDirectory } from "../database.ts"
import type { AccountDatabase } from "../database.ts"
import type { Env } from "../../bindings/env.ts"
import { buildStatesPageCondition } from "../paging.ts"
import { jobs } from "../schema/jobs.ts"
import { STATES } from "../../domain/states.ts"
import { users } from "../schema/users.ts"

/** Returns the email of an account's user; null if the account has no user. */
export async function findAccountEmail(
  env: Pick<Env, "DB">,
  accountId: string,
): Promise<string | null> {
  const [user] = await openDirectory(env)
    .select({ email: users.email })
    .from(users)
    .where(eq(users.accountId, accountId))
    .limit(1)
  return user?.email ?? null
}

/**
 * Returns the origin (scheme, host and port) under which the caller of the account's last job
 * reached the service; null if the account has no job.
 */
export async function findOriginOfLastJob({
  accountId,
  sql: database,
}: AccountDatabase): Promise<string | null> {
  const where = and(eq(jobs.accountId, accountId), sql`kind <> 'metadata'`)
  const [row] = await database
    .select({ origin: jobs.origin })
    .from(jobs)
    .where(buildStatesPageCondition(jobs, STATES, { where, page: { limit: 1, offset: 0 } }))
  return row?.origin ?? null
}
