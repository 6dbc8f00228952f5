import type { Env } from "../bindings/env.ts"
import { syncAccountCopy } from "../db/accounts/account-copies.ts"
import { openAccountDatabases } from "../db/database.ts"
import { findDelivery, insertDelivery, resetDeliveryForReplay } from "../db/deliveries.ts"
import type { DeliveryWithTries } from "../db/deliveries.ts"
import { readWebhookSecret, rotateWebhookSecret } from "../db/accounts/keys.ts"
import { TEST_EVENT_TYPE } from "./event-types.ts"
import { enqueueDelivery, draftDelivery } from "./outbox.ts"
import {
  makeWebhookSecret,
  computePreviousSecretExpiry,
  PREVIOUS_SECRET_VALID_MS,
} from "./signing.ts"

/**
 * Replays a webhook delivery: makes the delivery due again, with no tries used. Returns null if the
 * account has no such delivery.
 */
export async function replayDelivery(
  env: Env,
  accountId: string,
  id: string,
): Promise<DeliveryWithTries | null> {
  const database = openAccountDatabases(env, accountId)
  await resetDeliveryForReplay(database, id, Date.now())
  const logged = await findDelivery(database, id)
  if (logged) await enqueueDelivery(env, { accountId, deliveryId: id })
  return logged
}

/** Sends a signed test event to a URL, which the caller has validated, or to an endpoint. */
export async function sendTestEvent(
  env: Env,
  accountId: string,
  { url, id: endpointId = "" }: { url: string; id?: string },
): Promise<DeliveryWithTries> {
  const now = Date.now()
  const timestamp = new Date(now).toISOString()
  const data = { message: "Test event: webhooks of this account reach this URL." }
  const body = JSON.stringify({ type: TEST_EVENT_TYPE, timestamp, data })
  const database = openAccountDatabases(env, accountId)
  const delivery = draftDelivery({ jobId: null, endpointId, type: TEST_EVENT_TYPE, url, body }, now)
  await insertDelivery(database, delivery)
  const logged = await findDelivery(database, delivery.id)
  if (!logged) throw new Error(`the delivery ${delivery.id} was not stored`)
  await enqueueDelivery(env, { accountId, deliveryId: delivery.id })
  return logged
}

/**
 * Secret that signs webhooks. The previous secret also signs until `previousValidUntil`; null if
 * the previous secret no longer signs.
 */
export type SigningSecret = { secret: string; previousValidUntil: number | null }

export async function readWebhookSecretOfAccount(
  env: Env,
  accountId: string,
): Promise<SigningSecret> {
  const { webhookSecret: secret, webhookSecretRotatedAt: rotatedAt } = await readWebhookSecret(
    openAccountDatabases(env, accountId),
  )
  return { secret, previousValidUntil: computePreviousSecretExpiry(rotatedAt, Date.now()) }
}

/** Replaces the webhook secret of an account. The previous secret also signs for a day. */
export async function rotateWebhookSecretOfAccount(
  env: Env,
  accountId: string,
): Promise<SigningSecret> {
  const secret = makeWebhookSecret()
  const now = Date.now()
  await rotateWebhookSecret(openAccountDatabases(env, accountId), secret, now)
  await syncAccountCopy(env, accountId)
  return { secret, previousValidUntil: now + PREVIOUS_SECRET_VALID_MS }
}
