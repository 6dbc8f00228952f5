import { and, desc, eq, isNull, lt, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { z } from "zod"
import { formatUtcDay } from "./account-limits.ts"
import { openDatabaseByNumber, openDirectory } from "../database.ts"
import type { AccountDatabase, Database, DatabasesEnv } from "../database.ts"
import { planExistsCondition } from "./plans.ts"
import { accounts } from "../schema/accounts.ts"
import type { Account } from "../schema/accounts.ts"
import { usageDays } from "../schema/usage.ts"

/** Account with its users and usage, for the operator's pages. */
export type AccountOverview = Pick<
  Account,
  "id" | "name" | "plan" | "createdAt" | "suspendedAt" | "database"
> & {
  users: AccountUser[]
  /** Number of the account's API keys that are neither revoked nor expired. */
  keyCount: number
  storageBytes: number
  waitingJobs: number
  runningJobs: number
  /** Number of the account's jobs that were accepted on the current UTC day. */
  jobsToday: number
}

/** User of an account, for the operator's pages. */
export type AccountUser = { email: string; isOperator: boolean }

/** Query of a list of accounts, newest first: a filter, and the page to return. */
export type AccountListQuery = {
  limit: number
  before?: string | undefined
  /** Text that the account's name or the email of a user contains, case-insensitive. */
  search?: string | undefined
  /** Exact name of the account, case-sensitive. */
  name?: string | undefined
}

const userList = z.array(z.object({ email: z.string(), isOperator: z.number() }))

const userColumn = sql<
  AccountUser[]
>`(select json_group_array(json_object('email', email, 'isOperator', is_operator)) from users where users.account_id = accounts.id)`.mapWith(
  (text: string) =>
    userList
      .parse(JSON.parse(text))
      .map(({ email, isOperator }) => ({ email, isOperator: isOperator === 1 })),
)

function countOf(text: SQL) {
  return sql<number>`(select ${text})`.mapWith(Number)
}

function columnsAt(now: number) {
  const { id, name, plan, createdAt, suspendedAt, database } = accounts
  return {
    id,
    name,
    plan,
    createdAt,
    suspendedAt,
    database,
    users: userColumn,
    keyCount: countOf(
      sql`count(*) from keys where keys.account_id = accounts.id and revoked_at is null and coalesce(expires_at, ${now} + 1) > ${now}`,
    ),
  }
}

type Use = Pick<AccountOverview, "storageBytes" | "waitingJobs" | "runningJobs" | "jobsToday">
type AccountRow = Omit<AccountOverview, keyof Use>

/**
 * Returns the usage of accounts by account id. The accounts must have their rows in this database.
 */
async function readUses(
  database: Database,
  ids: readonly string[],
  day: string,
): Promise<(Use & { id: string })[]> {
  const id = sql<string>`account.value`
  return await database
    .select({
      id,
      storageBytes: countOf(
        sql`coalesce(sum(bytes), 0) from account_storage where account_id = account.value`,
      ),
      waitingJobs: countOf(
        sql`count(*) from jobs where account_id = account.value and state = 'waiting' and state in ('waiting', 'running')`,
      ),
      runningJobs: countOf(
        sql`count(*) from jobs where account_id = account.value and state = 'running' and state in ('waiting', 'running')`,
      ),
      jobsToday: countOf(
        sql`coalesce(sum(jobs), 0) from usage_days where account_id = account.value and day = ${day}`,
      ),
    })
    .from(sql`json_each(${JSON.stringify(ids)}) as account`)
}

const NO_USE: Use = { storageBytes: 0, waitingJobs: 0, runningJobs: 0, jobsToday: 0 }

/** Adds the usage of each account to a list of accounts, with one query for each database. */
async function withUse(
  env: DatabasesEnv,
  rows: AccountRow[],
  now: number,
): Promise<AccountOverview[]> {
  const places = Map.groupBy(rows, ({ database }) => database)
  const uses = await Promise.all(
    [...places].map(async ([database, some]) => {
      const ids = some.map(({ id }) => id)
      return await readUses(openDatabaseByNumber(env, database), ids, formatUtcDay(now))
    }),
  )
  const byId = new Map(uses.flat().map((use) => [use.id, use]))
  return rows.map((account) => ({ ...account, ...(byId.get(account.id) ?? NO_USE) }))
}

/** Returns a page of the accounts that are not deleted, newest first. */
export async function listAccounts(
  env: DatabasesEnv,
  { limit, before, search, name }: AccountListQuery,
  now: number,
): Promise<AccountOverview[]> {
  const text = search?.toLowerCase()
  const isFound = sql`(instr(lower(accounts.name), ${text}) > 0 or exists (select 1 from users where users.account_id = accounts.id and instr(lower(users.email), ${text}) > 0))`
  const rows = await openDirectory(env)
    .select(columnsAt(now))
    .from(accounts)
    .where(
      and(
        isNull(accounts.deletedAt),
        before === undefined ? undefined : lt(accounts.id, before),
        name === undefined ? undefined : eq(accounts.name, name),
        text ? isFound : undefined,
      ),
    )
    .orderBy(desc(accounts.id))
    .limit(limit)
  return await withUse(env, rows, now)
}

/** Returns an account; null if the account does not exist or is deleted. */
export async function findAccount(
  env: DatabasesEnv,
  accountId: string,
  now: number,
): Promise<AccountOverview | null> {
  const rows = await openDirectory(env)
    .select(columnsAt(now))
    .from(accounts)
    .where(isLiving(accountId))
  const [withUsage] = await withUse(env, rows, now)
  return withUsage ?? null
}

/**
 * Suspends an account, or ends the suspension if `suspendedAt` is null. An account that is already
 * suspended keeps its first suspension time. Returns false if the account does not exist.
 */
export async function setAccountSuspendedAt(
  database: Database,
  accountId: string,
  suspendedAt: number | null,
): Promise<boolean> {
  const changed = await database
    .update(accounts)
    .set({
      suspendedAt: suspendedAt === null ? null : sql`coalesce(suspended_at, ${suspendedAt})`,
    })
    .where(isLiving(accountId))
    .returning({ id: accounts.id })
  return changed.length === 1
}

/** Sets the plan of an account. Returns false if the account or the plan does not exist. */
export async function setPlanByAccountId(
  database: Database,
  accountId: string,
  plan: string,
): Promise<boolean> {
  const changed = await database
    .update(accounts)
    .set({ plan })
    .where(and(isLiving(accountId), planExistsCondition(plan)))
    .returning({ id: accounts.id })
  return changed.length === 1
}

function isLiving(accountId: string): SQL | undefined {
  return and(eq(accounts.id, accountId), isNull(accounts.deletedAt))
}

/** Activity of an account on one day, as the sum over its keys. */
export type AccountActivityOnDay = {
  day: string
  requests: number
  jobs: number
  fetches: number
  failedJobs: number
}

/** Returns an account's activity on the latest days with activity, the newest day first. */
export async function listDailyActivity(
  { accountId, sql: database }: AccountDatabase,
  limit: number,
): Promise<AccountActivityOnDay[]> {
  const { day, requests, jobs, fetches, failedJobs } = usageDays
  return await database
    .select({
      day,
      requests: sql`sum(${requests})`.mapWith(Number),
      jobs: sql`sum(${jobs})`.mapWith(Number),
      fetches: sql`sum(${fetches})`.mapWith(Number),
      failedJobs: sql`sum(${failedJobs})`.mapWith(Number),
    })
    .from(usageDays)
    .where(eq(usageDays.accountId, accountId))
    .groupBy(day)
    .orderBy(desc(day))
    .limit(limit)
}
