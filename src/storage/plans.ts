import { and, asc, count, eq, isNull, notExists, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { isBuiltInPlan } from "../plans.ts"
import type { OwnLimits } from "../plans.ts"
import type { Database } from "./database.ts"
import { accounts, plans } from "./schema/accounts.ts"
import type { OwnPlan } from "./schema/accounts.ts"
import { jobs } from "./schema/jobs.ts"
import { invitations } from "./schema/users.ts"

/** The operator's own plans, by name. */
export async function listOwnPlans(database: Database): Promise<OwnPlan[]> {
  return await database.select().from(plans).orderBy(asc(plans.name))
}

/** A plan of the operator's own; null where there is none of the name. */
export async function findOwnPlan(database: Database, name: string): Promise<OwnPlan | null> {
  const [plan] = await database.select().from(plans).where(eq(plans.name, name)).limit(1)
  return plan ?? null
}

/** How many accounts have each plan that any has. */
export async function countAccountsOfPlans(database: Database): Promise<Map<string, number>> {
  const rows = await database
    .select({ plan: accounts.plan, accounts: count() })
    .from(accounts)
    .where(isNull(accounts.deletedAt))
    .groupBy(accounts.plan)
  return new Map(rows.map((row) => [row.plan, row.accounts]))
}

/** Whether there is a plan of the name at the moment of a statement, since another may delete it. */
export function isPlanThere(name: string): SQL | undefined {
  if (isBuiltInPlan(name)) return undefined
  return sql`exists (select 1 from ${plans} where name = ${name})`
}

/** Stores a new plan; false where there is one of the name. */
export async function insertPlan(
  database: Database,
  { name, limits, now }: { name: string; limits: OwnLimits; now: number },
): Promise<boolean> {
  const made = await database
    .insert(plans)
    .values({ name, limits, createdAt: now, updatedAt: now })
    .onConflictDoNothing()
    .returning({ name: plans.name })
  return made.length === 1
}

/** Changes the numbers of a plan; false where there is none of the name. */
export async function updatePlan(
  database: Database,
  { name, limits, now }: { name: string; limits: OwnLimits; now: number },
): Promise<boolean> {
  const changed = await database
    .update(plans)
    .set({ limits, updatedAt: now })
    .where(eq(plans.name, name))
    .returning({ name: plans.name })
  return changed.length === 1
}

/** Deletes a plan that no account has and no invitation names; false where one does, or it is gone. */
export async function deletePlan(database: Database, name: string): Promise<boolean> {
  const ofAccount = database
    .select({ one: sql`1` })
    .from(accounts)
    .where(and(eq(accounts.plan, name), isNull(accounts.deletedAt)))
  const ofInvitation = database
    .select({ one: sql`1` })
    .from(invitations)
    .where(eq(invitations.plan, name))
  const deleted = await database
    .delete(plans)
    .where(and(eq(plans.name, name), notExists(ofAccount), notExists(ofInvitation)))
    .returning({ name: plans.name })
  return deleted.length === 1
}

/** Accounts of a plan that have jobs to do. */
export async function listBusyAccountsOfPlan(
  database: Database,
  plan: string,
  limit: number,
): Promise<string[]> {
  const busy = sql`exists (select 1 from ${jobs} where ${jobs.accountId} = ${accounts.id} and ${jobs.state} in ('waiting', 'running'))`
  const rows = await database
    .select({ id: sql<string>`accounts.id` })
    .from(accounts)
    .where(and(eq(accounts.plan, plan), busy))
    .limit(limit)
  return rows.map(({ id }) => id)
}
