import type { Env } from "../bindings/env.ts"
import { newId } from "../platform/ids.ts"
import { BATCH_EVENT_TYPES, findBatch } from "../db/batches.ts"
import type { BatchReceiver } from "../db/batches.ts"
import { openAccountDatabases } from "../db/database.ts"
import type { AccountDatabase } from "../db/database.ts"
import { listDeliveriesWithoutBody, storeDeliveryBody } from "../db/deliveries.ts"
import type { Delivery } from "../db/schema/deliveries.ts"
import { hydrateListedJobs, readDeliveryBody } from "../db/values/hydrate.ts"
import { createLargeValueWriter } from "../db/values/large-values.ts"
import { spillDeliveryToR2 } from "../db/values/overflow.ts"
import type { EnabledEndpoint } from "../domain/snapshot.ts"
import { abandonLargeValues } from "../objects/abandon-upload.ts"
import { buildBatchRecord } from "../kinds/batch-record.ts"
import { matchesEventType } from "./event-types.ts"
import { serializeWebhookEvent } from "./outbox.ts"

/** Returns all receivers of the event about a batch's end: the request's URL, and endpoints. */
export function makeBatchReceivers(endpoints: readonly EnabledEndpoint[]): BatchReceiver[] {
  const matching = endpoints.flatMap(({ id, url, events }) => {
    const types = BATCH_EVENT_TYPES.filter((type) => {
      return events.some((event) => matchesEventType(event, type))
    })
    return types.length === 0 ? [] : [{ id, url, types }]
  })
  return [null, ...matching].map((endpoint) => ({ deliveryId: newId(), endpoint }))
}

/** Reports whether a delivery is about a batch. Its `jobId` is then the id of the batch. */
export function isBatchDelivery({ type }: Pick<Delivery, "type">): boolean {
  return BATCH_EVENT_TYPES.some((batchType) => batchType === type)
}

/**
 * Writes the body of a batch's webhook to its delivery before the first try, and returns the stored
 * body. Returns null if the batch or the delivery was deleted. All later tries send the stored
 * body.
 */
export async function writeBatchDeliveryBody(env: Env, delivery: Delivery): Promise<string | null> {
  const database = openAccountDatabases(env, delivery.accountId)
  const found = await findBatch(database, delivery.jobId ?? "")
  if (!found) return null
  const jobs = await hydrateListedJobs(env.MEDIA, found.jobs, { request: false })
  const { origin, completedAt } = found.batch
  const body = serializeWebhookEvent({
    type: delivery.type,
    timestamp: new Date(completedAt ?? Date.now()).toISOString(),
    data: buildBatchRecord(`${origin}/v1`, { ...found, jobs }, new Map()),
  })
  const writer = createLargeValueWriter(env.MEDIA, database)
  const spilled = await spillDeliveryToR2(writer, { ...delivery, body })
  const stored = await storeDeliveryBody(database, spilled, writer.uploads)
  if (stored?.bodyObjectKey !== spilled.bodyObjectKey) await abandonLargeValues(env, writer)
  return stored && (await readDeliveryBody(env.MEDIA, stored))
}

/**
 * Maximum number of deliveries whose bodies one call writes. The limit bounds the D1 statements of
 * an invocation.
 */
const WRITTEN_AT_ONCE_MAX = 50

/**
 * Writes the bodies of waiting deliveries about one batch, or about all batches of the account,
 * before the rows of the batches are removed. Reports whether more such deliveries may remain.
 */
export async function writeBatchDeliveryBodies(
  env: Env,
  database: AccountDatabase,
  batchId?: string,
): Promise<boolean> {
  const only = batchId === undefined ? {} : { jobId: batchId }
  const waiting = await listDeliveriesWithoutBody(database, { ...only, limit: WRITTEN_AT_ONCE_MAX })
  const ofBatches = waiting.filter(isBatchDelivery)
  for (const delivery of ofBatches) await writeBatchDeliveryBody(env, delivery)
  return waiting.length === WRITTEN_AT_ONCE_MAX
}
