import type { AccountDatabase } from "../db/database.ts"
import type { WebhookEndpoint } from "../db/schema/deliveries.ts"
import {
  deleteWebhookEndpoint,
  findWebhookEndpoint,
  insertWebhookEndpoint,
  rotateEndpointSecret,
  updateWebhookEndpoint,
} from "../db/webhook-endpoints.ts"
import type { NewEndpointFieldValues, NewWebhookEndpoint } from "../db/webhook-endpoints.ts"
import { newId } from "../platform/ids.ts"
import type { SigningSecret } from "./account-webhooks.ts"
import {
  makeWebhookSecret,
  computePreviousSecretExpiry,
  PREVIOUS_SECRET_VALID_MS,
} from "./signing.ts"

/**
 * Creates a webhook endpoint with its own secret. Returns null if the account has reached its
 * maximum number of endpoints.
 */
export async function createEndpoint(
  database: AccountDatabase,
  fields: Pick<NewWebhookEndpoint, "url" | "events" | "description" | "enabled">,
): Promise<WebhookEndpoint | null> {
  const secret = makeWebhookSecret()
  return await insertWebhookEndpoint(database, {
    ...fields,
    id: newId(),
    secret,
    createdAt: Date.now(),
  })
}

/**
 * Changes a webhook endpoint for jobs that end later. Returns null if the endpoint does not exist.
 */
export async function changeEndpoint(
  database: AccountDatabase,
  id: string,
  change: NewEndpointFieldValues,
): Promise<WebhookEndpoint | null> {
  return await updateWebhookEndpoint(database, id, change)
}

/**
 * Removes a webhook endpoint. The waiting deliveries of the endpoint then fail. Returns false if
 * the endpoint does not exist.
 */
export async function removeEndpoint(database: AccountDatabase, id: string): Promise<boolean> {
  return await deleteWebhookEndpoint(database, id)
}

/** Returns the signing secret of a webhook endpoint, or null if the endpoint does not exist. */
export async function readEndpointSecret(
  database: AccountDatabase,
  id: string,
): Promise<SigningSecret | null> {
  const endpoint = await findWebhookEndpoint(database, id)
  if (!endpoint) return null
  const { secret, secretRotatedAt } = endpoint
  return { secret, previousValidUntil: computePreviousSecretExpiry(secretRotatedAt, Date.now()) }
}

/**
 * Replaces the secret of a webhook endpoint. The previous secret also signs for a day. Returns null
 * if the endpoint does not exist.
 */
export async function rotateSecretOfEndpoint(
  database: AccountDatabase,
  id: string,
): Promise<SigningSecret | null> {
  const secret = makeWebhookSecret()
  const now = Date.now()
  if (!(await rotateEndpointSecret(database, id, secret, now))) return null
  return { secret, previousValidUntil: now + PREVIOUS_SECRET_VALID_MS }
}
