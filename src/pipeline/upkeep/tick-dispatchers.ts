import pMap from "p-map"
import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import { dispatcherOf } from "../../placement.ts"
import type { Database } from "../../storage/database.ts"
import { listAccountsWithOpenJobs } from "../../storage/jobs.ts"

const ACCOUNTS_AT_ONCE = 8
/** So many accounts begin in a second at most. */
const PAGE_ACCOUNTS = 100
const PAGE_MS = 1_000
/** Accounts beyond what a minute has room for take turns, each in one of several sweeps. */
const ACCOUNTS_PER_SWEEP = 5_000
const SWEEP_MS = 60_000
const LISTED_AT_ONCE = 1_000

/** Ticks the dispatchers of accounts with an open job, spread over the minute where they are many. */
export async function tickDispatchers(env: Env, database: Database, now: number): Promise<void> {
  const accounts = await listDue(database, now)
  for (let from = 0; from < accounts.length; from += PAGE_ACCOUNTS) {
    const begunAt = Date.now()
    await pMap(
      accounts.slice(from, from + PAGE_ACCOUNTS),
      async (accountId) =>
        await doOrLog("sweep.tick_failed", { account_id: accountId }, async () => {
          await dispatcherOf(env, accountId).tick(accountId)
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

/** A number of an account that is the same in each sweep, whatever others there are. */
function hashOf(accountId: string): number {
  let hash = 0
  for (const character of accountId) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0
  return hash
}
