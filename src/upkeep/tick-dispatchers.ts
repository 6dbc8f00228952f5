import pMap from "p-map"
import type { Env } from "../bindings/env.ts"
import { runOrLogError } from "../platform/log.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import type { Database } from "../db/database.ts"
import { listAccountsWithOpenJobs } from "../db/jobs/jobs.ts"

const ACCOUNTS_AT_ONCE = 8
/** Maximum number of accounts per second whose dispatchers are called. */
const PAGE_ACCOUNTS = 100
const PAGE_MS = 1_000
/**
 * Maximum number of accounts whose dispatchers one sweep calls. More accounts are spread over
 * several sweeps.
 */
const ACCOUNTS_PER_SWEEP = 5_000
const SWEEP_MS = 60_000
const LISTED_AT_ONCE = 1_000

/**
 * Calls `tick` of the dispatchers of accounts with an open job, which continue work that a lost
 * call has stopped. Spreads many accounts over the minute between two sweeps.
 */
export async function tickDispatchersWithOpenJobs(
  env: Env,
  database: Database,
  now: number,
): Promise<void> {
  const accounts = await listDue(database, now)
  for (let from = 0; from < accounts.length; from += PAGE_ACCOUNTS) {
    const begunAt = Date.now()
    await pMap(
      accounts.slice(from, from + PAGE_ACCOUNTS),
      async (accountId) =>
        await runOrLogError("sweep.tick_failed", { account_id: accountId }, async () => {
          await getDispatcher(env, accountId).tick(accountId)
        }),
      { concurrency: ACCOUNTS_AT_ONCE },
    )
    const isLast = from + PAGE_ACCOUNTS >= accounts.length
    if (!isLast) await scheduler.wait(Math.max(0, PAGE_MS - Math.abs(Date.now() - begunAt)))
  }
}

async function listDue(database: Database, now: number): Promise<string[]> {
  const accounts: string[] = []
  for (let isMore = true; isMore;) {
    const after = accounts.at(-1) ?? ""
    const page = await listAccountsWithOpenJobs(database, { after, limit: LISTED_AT_ONCE })
    accounts.push(...page)
    isMore = page.length === LISTED_AT_ONCE
  }
  const turns = Math.max(1, Math.ceil(accounts.length / ACCOUNTS_PER_SWEEP))
  const turn = Math.floor(now / SWEEP_MS) % turns
  return accounts.filter((accountId) => hashOf(accountId) % turns === turn)
}

/**
 * Returns a hash of an account id, which determines in which sweep the account's dispatcher is
 * called. The hash stays the same if other accounts are created or deleted.
 */
function hashOf(accountId: string): number {
  let hash = 0
  for (const character of accountId) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0
  return hash
}
