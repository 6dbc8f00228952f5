import { and, asc, count, eq, isNull, notExists, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { isBuiltInPlan } from "../../domain/plans.ts"
import type { OperatorPlanLimits } from "../../domain/plans.ts"
import type { Database } from "../database.ts"
import { accounts, plans } from "../schema/accounts.ts"
import type { OperatorPlan } from "../schema/accounts.ts"
import { jobs } from "../schema/jobs.ts"
import { invitations } from "../schema/users.ts"

/** Returns the plans that the operator created, sorted by name. */
export async function listOperatorPlans(database: Database): Promise<OperatorPlan[]> {
  return await database.select().from(plans).orderBy(asc(plans.name))
}

/** Returns a plan that the operator created, by name; null if no plan has the name. */
export async function findOperatorPlan(
  database: Database,
  name: string,
): Promise<OperatorPlan | null> {
  const [plan] = await database.select().from(plans).where(eq(plans.name, name)).limit(1)
  return plan ?? null
}

/** Returns the number of accounts of each plan. Plans without accounts are absent. */
export async function countAccountsByPlan(database: Database): Promise<Map<string, number>> {
  const rows = await database
    .select({ plan: accounts.plan, accounts: count() })
    .from(accounts)
    .where(isNull(accounts.deletedAt))
    .groupBy(accounts.plan)
  return new Map(rows.map((row) => [row.plan, row.accounts]))
}

/**
 * Returns the SQL condition that a plan exists; undefined for a built-in plan. Statements include
 * the condition because another request may delete the plan before they run.
 */
export function planExistsCondition(name: string): SQL | undefined {
  if (isBuiltInPlan(name)) return undefined
  return sql`exists (select 1 from ${plans} where name = ${name})`
}

/** Stores a new plan. Returns false if a plan with the name exists. */
export async function insertPlan(
  database: Database,
  { name, limits, now }: { name: string; limits: OperatorPlanLimits; now: number },
): Promise<boolean> {
  const rows = await database
    .insert(plans)
    .values({ name, limits, createdAt: now, updatedAt: now })
    .onConflictDoNothing()
    .returning({ name: plans.name })
  return rows.length === 1
}

/** Changes the limits of a plan. Returns false if there is no plan with the name. */
export async function updatePlan(
  database: Database,
  { name, limits, now }: { name: string; limits: OperatorPlanLimits; now: number },
): Promise<boolean> {
  const changed = await database
    .update(plans)
    .set({ limits, updatedAt: now })
    .where(eq(plans.name, name))
    .returning({ name: plans.name })
  return changed.length === 1
}

/**
 * Deletes a plan that no account and no invitation uses. Returns false if the plan is used or does
 * not exist.
 */
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

/** Returns the ids of at most `limit` accounts of a plan that have open jobs. */
export async function listAccountIdsWithOpenJobsOfPlan(
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
