import { and, asc, desc, eq, lt, sql } from "drizzle-orm"
import type { DeliveryState } from "../contract/state.ts"
import type { Database } from "./database.ts"
import { accounts, deliveries, deliveryTries } from "./schema.ts"
import type { Account, Delivery, DeliveryTry } from "./schema.ts"
import type { Page } from "./jobs.ts"

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

export type DueDelivery = { delivery: Delivery; account: Account }

/** A delivery that is due now, and the account whose secrets sign it; null where it is not due. */
export async function findDueDelivery(
  database: Database,
  id: string,
  now: number,
): Promise<DueDelivery | null> {
  const [found] = await database
    .select({ delivery: deliveries, account: accounts })
    .from(deliveries)
    .innerJoin(accounts, eq(accounts.id, deliveries.accountId))
    .where(
      and(eq(deliveries.id, id), sql`${deliveries.state} = 'waiting' and next_try_at <= ${now}`),
    )
    .limit(1)
  return found ?? null
}

/** Moves a waiting delivery's next try; false where somebody moved it since it was read. */
export async function postponeDelivery(
  database: Database,
  read: Pick<Delivery, "id" | "nextTryAt">,
  nextTryAt: number,
): Promise<boolean> {
  const moved = await database
    .update(deliveries)
    .set({ nextTryAt })
    .where(unmoved(read))
    .returning({ id: deliveries.id })
  return moved.length === 1
}

/** Logs a try and moves its delivery on, unless somebody moved that meanwhile. */
export async function endTry(
  database: Database,
  read: Pick<Delivery, "id" | "nextTryAt">,
  made: Omit<DeliveryTry, "deliveryId" | "number">,
  set: Pick<Delivery, "state" | "tries" | "nextTryAt" | "completedAt">,
): Promise<void> {
  const { startedAt, durationMs, status, error, answer } = made
  await database.batch([
    database
      .insert(deliveryTries)
      .select(
        sql`select ${read.id}, coalesce(max(number), 0) + 1, ${startedAt}, ${durationMs}, ${status}, ${error}, ${answer} from delivery_tries where delivery_id = ${read.id}`,
      ),
    database.update(deliveries).set(set).where(unmoved(read)),
  ])
}

export async function insertDelivery(
  database: Database,
  made: typeof deliveries.$inferInsert,
): Promise<void> {
  await database.insert(deliveries).values(made)
}

/** Makes a delivery due again, with all its tries before it; those that were made stay logged. */
export async function replayDelivery(
  database: Database,
  accountId: string,
  id: string,
  now: number,
): Promise<void> {
  await database
    .update(deliveries)
    .set({ state: "waiting", tries: 0, nextTryAt: now, completedAt: null })
    .where(and(eq(deliveries.id, id), eq(deliveries.accountId, accountId)))
}

export type LoggedDelivery = { delivery: Delivery; tries: DeliveryTry[] }

export async function findDelivery(
  database: Database,
  accountId: string,
  id: string,
): Promise<LoggedDelivery | null> {
  const found = await database
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.id, id), eq(deliveries.accountId, accountId)))
    .limit(1)
  const [logged] = await withTries(database, found)
  return logged ?? null
}

/** Deliveries of an account, newest first. */
export async function listDeliveries(
  database: Database,
  accountId: string,
  page: Page,
  only: { jobId?: string | undefined; state?: DeliveryState | undefined },
): Promise<LoggedDelivery[]> {
  const found = await database
    .select()
    .from(deliveries)
    .where(
      and(
        eq(deliveries.accountId, accountId),
        only.jobId === undefined ? undefined : eq(deliveries.jobId, only.jobId),
        only.state === undefined ? undefined : eq(deliveries.state, only.state),
        page.before ? lt(deliveries.id, page.before) : undefined,
      ),
    )
    .orderBy(desc(deliveries.id))
    .limit(page.limit)
    .offset(page.offset)
  return await withTries(database, found)
}

async function withTries(database: Database, found: Delivery[]): Promise<LoggedDelivery[]> {
  if (found.length === 0) return []
  const ids = JSON.stringify(found.map(({ id }) => id))
  const tries = await database
    .select()
    .from(deliveryTries)
    .where(sql`${deliveryTries.deliveryId} in (select value from json_each(${ids}))`)
    .orderBy(asc(deliveryTries.number))
  const byDelivery = Map.groupBy(tries, ({ deliveryId }) => deliveryId)
  return found.map((delivery) => ({ delivery, tries: byDelivery.get(delivery.id) ?? [] }))
}

function unmoved(read: Pick<Delivery, "id" | "nextTryAt">) {
  return and(
    eq(deliveries.id, read.id),
    eq(deliveries.state, "waiting"),
    eq(deliveries.nextTryAt, read.nextTryAt),
  )
}
