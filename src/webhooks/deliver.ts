import { parseUserUrl, parseHostList } from "../contract/urls/user-url.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { log, logError } from "../platform/log.ts"
import { countMetricEvent } from "../bindings/metrics.ts"
import { openAccountDatabases } from "../db/database.ts"
import { claimDueDelivery, saveDeliveryTry, postponeDelivery } from "../db/deliveries.ts"
import type { DueDelivery } from "../db/deliveries.ts"
import type { DeliveryState } from "../domain/states.ts"
import { readDeliveryBody } from "../db/values/hydrate.ts"
import type { Delivery } from "../db/schema/deliveries.ts"
import { isBatchDelivery, writeBatchDeliveryBody } from "./batch-event.ts"
import { enqueueDelivery } from "./outbox.ts"
import { postWebhook, makeUnsentTryResult } from "./post.ts"
import { computeNextDeliveryState, isReceiverGone } from "./retry-schedule.ts"
import type { DeliveryTryResult } from "./retry-schedule.ts"
import { listSigningSecrets, signWebhook } from "./signing.ts"
import type { SecretWithPrevious } from "./signing.ts"
import { acquirePermit } from "./semaphore.ts"

/**
 * Time for which a claimed try belongs to one consumer, in milliseconds. Another consumer may
 * repeat the try afterwards.
 */
const CLAIM_MS = 60_000
/**
 * Waits, in milliseconds, between attempts to get a permit, which limits the concurrent deliveries
 * to a host. After the last attempt the delivery is requeued.
 */
const PERMIT_WAITS_MS = [10, 20, 40, 80, 160]
const BUSY_SECONDS_MAX = 60

/** Makes the next try of a webhook delivery, if the try is due and no other consumer claimed it. */
export async function attemptDelivery(
  env: Env,
  accountId: string,
  deliveryId: string,
): Promise<void> {
  const now = Date.now()
  const claim = { now, claimedUntil: now + CLAIM_MS }
  const due = await claimDueDelivery(openAccountDatabases(env, accountId), deliveryId, claim)
  if (!due) return
  const release = await waitForPermit({ accountId, host: hostOf(due.delivery.url) })
  if (!release) return await requeue(env, due)
  try {
    await tryOnce(env, due)
  } finally {
    release()
  }
}

/** Returns the origin of a URL, or null for an invalid URL. */
function receiverOf(url: string): string | null {
  return URL.parse(url)?.origin ?? null
}

/** Returns the host of a URL, or an empty text for an invalid URL, whose try fails. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? ""
}

async function waitForPermit(delivery: { accountId: string; host: string }) {
  for (const waitMs of PERMIT_WAITS_MS) {
    const now = Date.now()
    const release = acquirePermit(delivery, now, now + CLAIM_MS)
    if (release) return release
    await scheduler.wait(waitMs)
  }
  return null
}

async function tryOnce(env: Env, due: DueDelivery): Promise<void> {
  const { delivery } = due
  const database = openAccountDatabases(env, delivery.accountId)
  const attempt = await post(env, due).catch((error: unknown) => {
    logError("webhooks.try_failed", { delivery_id: delivery.id, error: String(error) })
    return makeUnsentTryResult("the service failed to send the webhook", false)
  })
  const waits = getSettings(env).WEBHOOK_RETRY_SECONDS
  const { state, waitMs } = computeNextDeliveryState(attempt, delivery.tries, waits)
  recordTry(env, due, attempt, state)
  const now = Date.now()
  const dueAt = now + waitMs
  await saveDeliveryTry(database, delivery, attempt, {
    set: {
      state,
      tries: delivery.tries + 1,
      nextTryAt: dueAt,
      completedAt: state === "waiting" ? null : now,
    },
    receiver: attempt.isOfReceiver ? receiverOf(delivery.url) : null,
    isGone: isReceiverGone(attempt),
  })
  if (state !== "waiting") return
  await enqueueDelivery(env, { accountId: delivery.accountId, deliveryId: delivery.id, dueAt })
}

/**
 * Logs and counts a try. Logs only the host of the URL, because the rest may be a secret of the
 * account.
 */
function recordTry(
  env: Env,
  { delivery, requestId }: DueDelivery,
  { status, error, durationMs }: DeliveryTryResult,
  state: DeliveryState,
): void {
  log(state === "failed" ? "warn" : "info", "webhook.tried", {
    request_id: requestId,
    account_id: delivery.accountId,
    job_id: delivery.jobId,
    delivery_id: delivery.id,
    host: hostOf(delivery.url),
    attempt: delivery.tries + 1,
    outcome: state,
    status,
    error,
    duration_ms: durationMs,
  })
  countMetricEvent(env, { event: "webhook_try", outcome: state, durationMs })
}

/** Returns the body of a delivery; null if the body no longer exists. */
async function readBody(env: Env, delivery: Delivery): Promise<string | null> {
  const stored = await readDeliveryBody(env.MEDIA, delivery)
  if (stored === "" && isBatchDelivery(delivery)) return await writeBatchDeliveryBody(env, delivery)
  return stored
}

async function post(
  env: Env,
  { delivery, account, endpoint, requestId }: DueDelivery,
): Promise<DeliveryTryResult> {
  const refusal = findRefusal(delivery, endpoint)
  if (refusal !== null) return { ...makeUnsentTryResult(refusal, false), isLast: true }
  const allowed = parseHostList(getSettings(env).ALLOWED_PRIVATE_HOSTS)
  const checked = parseUserUrl(delivery.url, allowed)
  if ("error" in checked) return makeUnsentTryResult(checked.error, true)
  const { id } = delivery
  const body = await readBody(env, delivery)
  if (body === null) return makeUnsentTryResult("the body of the webhook no longer exists", false)
  const now = Date.now()
  const timestampSeconds = Math.floor(now / 1000)
  const secrets = listSigningSecrets(endpoint ?? secretOf(account), now)
  const headers = {
    "content-type": "application/json",
    "user-agent": "lathe-webhooks/1",
    ...(requestId !== null && { "x-request-id": requestId }),
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": await signWebhook(secrets, { id, timestampSeconds, body }),
  }
  return await postWebhook(checked.url.href, headers, body)
}

/**
 * Returns the reason why an endpoint no longer gets a delivery. Returns null if the endpoint does
 * get the delivery, or if the delivery goes to the URL of a request. A disabled endpoint still gets
 * test events.
 */
function findRefusal(
  { endpointId, jobId }: DueDelivery["delivery"],
  endpoint: DueDelivery["endpoint"],
): string | null {
  if (endpointId === "") return null
  if (!endpoint) return "its endpoint was deleted"
  return endpoint.enabled || jobId === null ? null : "its endpoint is disabled"
}

/** Returns the secret that signs webhooks to URLs in requests; endpoints have their own secrets. */
function secretOf(account: DueDelivery["account"]): SecretWithPrevious {
  const { webhookSecret, webhookSecretBefore, webhookSecretRotatedAt } = account
  return {
    secret: webhookSecret,
    secretBefore: webhookSecretBefore,
    secretRotatedAt: webhookSecretRotatedAt,
  }
}

/**
 * Requeues a delivery whose host has no free permit. The wait grows with the delivery's age, so
 * that many deliveries to a slow receiver cause few messages.
 */
async function requeue(env: Env, { delivery }: DueDelivery): Promise<void> {
  const { id, accountId, createdAt } = delivery
  const now = Date.now()
  const ageSeconds = (now - createdAt) / 1000
  const waitMs = Math.ceil(Math.min(BUSY_SECONDS_MAX, Math.max(1, ageSeconds / 4))) * 1000
  const dueAt = now + waitMs
  if (!(await postponeDelivery(openAccountDatabases(env, accountId), delivery, dueAt))) return
  await enqueueDelivery(env, { accountId, deliveryId: id, dueAt })
}
