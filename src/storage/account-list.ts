import { and, desc, eq, isNull, lt, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { z } from "zod"
import { dayOf } from "./account-limits.ts"
import { databaseAt, directoryOf } from "./database.ts"
import type { AccountDatabase, Database, DatabasesEnv } from "./database.ts"
import { isPlanThere } from "./plans.ts"
import { accounts } from "./schema/accounts.ts"
import type { Account } from "./schema/accounts.ts"
import { usageDays } from "./schema/usage.ts"

/** An account with what an operator wants to know of it. */
export type AccountFacts = Pick<
  Account,
  "id" | "name" | "plan" | "createdAt" | "suspendedAt" | "database"
> & {
  users: AccountUser[]
  /** Keys that are neither revoked nor expired. */
  keyCount: number
  storageBytes: number
  waitingJobs: number
  runningJobs: number
  /** Jobs that were accepted today, UTC. */
  jobsToday: number
}

export type AccountUser = { email: string; isOperator: boolean }

/** Which accounts to list: newest first, those before an id, and those that a text is found in. */
export type AccountPage = {
  limit: number
  before?: string | undefined
  /** A part of the name or of the address of a user, whatever the case. */
  search?: string | undefined
  /** The whole name. */
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

type Use = Pick<AccountFacts, "storageBytes" | "waitingJobs" | "runningJobs" | "jobsToday">
type Listed = Omit<AccountFacts, keyof Use>

/** What accounts use, by their ids, of those that a database has the rows of. */
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

/** The accounts with what each uses, by one question to each database that has rows of any. */
async function withUse(env: DatabasesEnv, listed: Listed[], now: number): Promise<AccountFacts[]> {
  const places = Map.groupBy(listed, ({ database }) => database)
  const uses = await Promise.all(
    [...places].map(async ([database, some]) => {
      const ids = some.map(({ id }) => id)
      return await readUses(databaseAt(env, database), ids, dayOf(now))
    }),
  )
  const byId = new Map(uses.flat().map((use) => [use.id, use]))
  return listed.map((account) => ({ ...account, ...(byId.get(account.id) ?? NO_USE) }))
}

/** Accounts that are not deleted, newest first. */
export async function listAccounts(
  env: DatabasesEnv,
  { limit, before, search, name }: AccountPage,
  now: number,
): Promise<AccountFacts[]> {
  const text = search?.toLowerCase()
  const isFound = sql`(instr(lower(accounts.name), ${text}) > 0 or exists (select 1 from users where users.account_id = accounts.id and instr(lower(users.email), ${text}) > 0))`
  const listed = await directoryOf(env)
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
  return await withUse(env, listed, now)
}

/** One account that is not deleted; null where there is none. */
export async function findAccount(
  env: DatabasesEnv,
  accountId: string,
  now: number,
): Promise<AccountFacts | null> {
  const listed = await directoryOf(env)
    .select(columnsAt(now))
    .from(accounts)
    .where(isLiving(accountId))
  const [found] = await withUse(env, listed, now)
  return found ?? null
}

/** Suspends an account, from the moment that it is so already, or lifts that; false where there is none. */
export async function setSuspendedAt(
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

/** Gives an account a plan; false where there is no such account, or plan. */
export async function setPlanOf(
  database: Database,
  accountId: string,
  plan: string,
): Promise<boolean> {
  const changed = await database
    .update(accounts)
    .set({ plan })
    .where(and(isLiving(accountId), isPlanThere(plan)))
    .returning({ id: accounts.id })
  return changed.length === 1
}

function isLiving(accountId: string): SQL | undefined {
  return and(eq(accounts.id, accountId), isNull(accounts.deletedAt))
}

/** What an account did on a day, its keys together. */
export type AccountDay = {
  day: string
  requests: number
  jobs: number
  fetches: number
  failedJobs: number
}

/** What an account did on its last days on which it did something, newest first. */
export async function listAccountDays(
  { accountId, sql: database }: AccountDatabase,
  limit: number,
): Promise<AccountDay[]> {
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
