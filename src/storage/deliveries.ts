import { and, eq, sql } from "drizzle-orm"
import type { Database } from "./database.ts"
import { deliveries } from "./schema.ts"

/** The delivery of a job's end that still waits for a try; null where there is none. */
export async function findWaitingDelivery(
  database: Database,
  jobId: string,
): Promise<string | null> {
  const [row] = await database
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(and(eq(deliveries.jobId, jobId), eq(deliveries.state, "waiting")))
    .limit(1)
  return row?.id ?? null
}

/** Deliveries whose next try is due, the longest due first. */
export async function listDueDeliveries(
  database: Database,
  now: number,
  limit: number,
): Promise<string[]> {
  const rows = await database
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(sql`state = 'waiting' and next_try_at <= ${now}`)
    .orderBy(deliveries.nextTryAt)
    .limit(limit)
  return rows.map((row) => row.id)
}
