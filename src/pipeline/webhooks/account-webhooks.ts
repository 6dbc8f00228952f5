import type { Env } from "../../env.ts"
import { newId } from "../../ids.ts"
import { copyAccount } from "../../storage/account-copies.ts"
import { databaseOf } from "../../storage/database.ts"
import { findDelivery, insertDelivery, resetDelivery } from "../../storage/deliveries.ts"
import type { LoggedDelivery } from "../../storage/deliveries.ts"
import { readWebhookSecret, rotateWebhookSecret } from "../../storage/keys.ts"
import { enqueueDelivery } from "./outbox.ts"
import { makeWebhookSecret, SECRET_OVERLAP_MS } from "./signing.ts"

const TEST_TYPE = "webhook.test"

/** Makes a delivery due again with all its tries; null where the account has none such. */
export async function replayDelivery(
  env: Env,
  accountId: string,
  id: string,
): Promise<LoggedDelivery | null> {
  const database = databaseOf(env, accountId)
  await resetDelivery(database, id, Date.now())
  const logged = await findDelivery(database, id)
  if (logged) await enqueueDelivery(env, { accountId, deliveryId: id })
  return logged
}

/** Sends a signed test event to a URL that was checked. */
export async function sendTestEvent(
  env: Env,
  accountId: string,
  url: string,
): Promise<LoggedDelivery> {
  const now = Date.now()
  const id = newId()
  const timestamp = new Date(now).toISOString()
  const data = { message: "This is a test: webhooks of this account reach this URL." }
  const database = databaseOf(env, accountId)
  await insertDelivery(database, {
    id,
    jobId: null,
    type: TEST_TYPE,
    url,
    body: JSON.stringify({ type: TEST_TYPE, timestamp, data }),
    state: "waiting",
    nextTryAt: now,
    createdAt: now,
  })
  const logged = await findDelivery(database, id)
  if (!logged) throw new Error(`the delivery ${id} was not stored`)
  await enqueueDelivery(env, { accountId, deliveryId: id })
  return logged
}

/** What signs webhooks; the secret before does, too, until `previousValidUntil`, null where none does. */
export type SigningSecret = { secret: string; previousValidUntil: number | null }

export async function readSecret(env: Env, accountId: string): Promise<SigningSecret> {
  const { webhookSecret: secret, webhookSecretRotatedAt: rotatedAt } = await readWebhookSecret(
    databaseOf(env, accountId),
  )
  const until = rotatedAt === null ? null : rotatedAt + SECRET_OVERLAP_MS
  return { secret, previousValidUntil: until !== null && until > Date.now() ? until : null }
}

/** Gives the account a new secret; the one before signs beside it for a while. */
export async function rotateSecret(env: Env, accountId: string): Promise<SigningSecret> {
  const secret = makeWebhookSecret()
  const now = Date.now()
  await rotateWebhookSecret(databaseOf(env, accountId), secret, now)
  await copyAccount(env, accountId)
  return { secret, previousValidUntil: now + SECRET_OVERLAP_MS }
}
