import { and, eq, gt, lt } from "drizzle-orm"
import type { Database } from "./database.ts"
import { IDEMPOTENCY_MS } from "./jobs.ts"
import { idempotency } from "./schema.ts"

/** What an account's key stands for since less than a day; null where it is free. */
export async function findIdempotency(
  database: Database,
  { accountId, key }: { accountId: string; key: string },
  now: number,
): Promise<{ jobId: string; bodyHash: string } | null> {
  const [row] = await database
    .select({ jobId: idempotency.jobId, bodyHash: idempotency.bodyHash })
    .from(idempotency)
    .where(
      and(
        eq(idempotency.accountId, accountId),
        eq(idempotency.key, key),
        gt(idempotency.createdAt, now - IDEMPOTENCY_MS),
      ),
    )
    .limit(1)
  return row ?? null
}

/** Forgets keys that are older than a day. */
export async function forgetIdempotency(database: Database, now: number): Promise<void> {
  await database.delete(idempotency).where(lt(idempotency.createdAt, now - IDEMPOTENCY_MS))
}
