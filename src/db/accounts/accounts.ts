import { and, eq, isNull } from "drizzle-orm"
import type { CallerAccount } from "../../bindings/rpc.ts"
import type { Database } from "../database.ts"
import { accounts, plans } from "../schema/accounts.ts"

/** Columns of an account and its plan that the rate limiter caches for each caller. */
export const CALLER_ACCOUNT_COLUMNS = {
  id: accounts.id,
  plan: accounts.plan,
  ownLimits: plans.limits,
  suspendedAt: accounts.suspendedAt,
}

type HolderRow = Omit<CallerAccount, "isSuspended"> & { suspendedAt: number | null }

/** Converts a row of CALLER_ACCOUNT_COLUMNS to the account that the rate limiter caches. */
export function toCallerAccount({ id, plan, ownLimits, suspendedAt }: HolderRow): CallerAccount {
  return { id, plan, ownLimits, isSuspended: suspendedAt !== null }
}

/** Returns an account with its plan; null if the account does not exist or is deleted. */
export async function findCallerAccount(
  database: Database,
  accountId: string,
): Promise<CallerAccount | null> {
  const [row] = await database
    .select(CALLER_ACCOUNT_COLUMNS)
    .from(accounts)
    .leftJoin(plans, eq(plans.name, accounts.plan))
    .where(and(eq(accounts.id, accountId), isNull(accounts.deletedAt)))
    .limit(1)
  return row ? toCallerAccount(row) : null
}
