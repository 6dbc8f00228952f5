import { and, eq, isNull } from "drizzle-orm"
import type { Holder } from "../rpc.ts"
import type { Database } from "./database.ts"
import { accounts, plans } from "./schema/accounts.ts"

/** Columns of what may be cached of an account; its plan's row is joined to them. */
export const HOLDER_COLUMNS = {
  id: accounts.id,
  plan: accounts.plan,
  ownLimits: plans.limits,
  suspendedAt: accounts.suspendedAt,
}

type HolderRow = Omit<Holder, "isSuspended"> & { suspendedAt: number | null }

export function holderOf({ id, plan, ownLimits, suspendedAt }: HolderRow): Holder {
  return { id, plan, ownLimits, isSuspended: suspendedAt !== null }
}

/** An account that is not deleted, with its plan; null where there is none. */
export async function findHolder(database: Database, accountId: string): Promise<Holder | null> {
  const [row] = await database
    .select(HOLDER_COLUMNS)
    .from(accounts)
    .leftJoin(plans, eq(plans.name, accounts.plan))
    .where(and(eq(accounts.id, accountId), isNull(accounts.deletedAt)))
    .limit(1)
  return row ? holderOf(row) : null
}
