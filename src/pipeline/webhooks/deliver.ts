import { checkUserUrl, readHosts } from "../../contract/user-url.ts"
import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { log, logError } from "../../log.ts"
import { countEvent } from "../../metrics.ts"
import { databaseOf } from "../../storage/database.ts"
import { claimDueDelivery, endTry, postponeDelivery } from "../../storage/deliveries.ts"
import type { DueDelivery } from "../../storage/deliveries.ts"
import type { DeliveryState } from "../../storage/schema/states.ts"
import { readBody } from "../../storage/hydrate.ts"
import { enqueueDelivery } from "./outbox.ts"
import { postWebhook, refusedAttempt } from "./post.ts"
import { afterTry } from "./retry-schedule.ts"
import type { Attempt } from "./retry-schedule.ts"
import { signingSecrets, signWebhook } from "./signing.ts"
import { acquirePermit } from "./semaphore.ts"

/** A claim of a try expires by then, and the try is made again. */
const CLAIM_MS = 60_000
/** Waits for a permit before the delivery goes back to the queue, in milliseconds. */
const PERMIT_WAITS_MS = [10, 20, 40, 80, 160]
const BUSY_SECONDS_MAX = 60

/** Makes the next try of a delivery, where it is due and not claimed by another consumer. */
export async function deliver(env: Env, accountId: string, deliveryId: string): Promise<void> {
  const now = Date.now()
  const claim = { now, claimedUntil: now + CLAIM_MS }
  const due = await claimDueDelivery(databaseOf(env, accountId), deliveryId, claim)
  if (!due) return
  const release = await waitForPermit({ accountId, host: hostOf(due.delivery.url) })
  if (!release) return await requeue(env, due)
  try {
    await tryOnce(env, due)
  } finally {
    release()
  }
}

/** The origin of a URL; null for one that is none. */
function receiverOf(url: string): string | null {
  return URL.parse(url)?.origin ?? null
}

/** The host of a URL; one that is none fails at its try, as any that may not be called. */
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
  const database = databaseOf(env, delivery.accountId)
  const attempt = await post(env, due).catch((error: unknown) => {
    logError("webhooks.try_failed", { delivery_id: delivery.id, error: String(error) })
    return refusedAttempt("it could not be made, for a reason of the service's own", false)
  })
  const waits = settingsOf(env).WEBHOOK_RETRY_SECONDS
  const { state, waitMs } = afterTry(attempt, delivery.tries, waits)
  noteTry(env, due, attempt, state)
  const now = Date.now()
  const dueAt = now + waitMs
  await endTry(database, delivery, attempt, {
    set: {
      state,
      tries: delivery.tries + 1,
      nextTryAt: dueAt,
      completedAt: state === "waiting" ? null : now,
    },
    receiver: attempt.isOfReceiver ? receiverOf(delivery.url) : null,
  })
  if (state !== "waiting") return
  await enqueueDelivery(env, { accountId: delivery.accountId, deliveryId: delivery.id, dueAt })
}

/** Logs and counts a try; of the URL the host alone, since the rest may be a secret of its owner. */
function noteTry(
  env: Env,
  { delivery, requestId }: DueDelivery,
  { status, error, durationMs }: Attempt,
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
  countEvent(env, { event: "webhook_try", outcome: state, durationMs })
}

async function post(env: Env, { delivery, account, requestId }: DueDelivery): Promise<Attempt> {
  const allowed = readHosts(settingsOf(env).ALLOWED_PRIVATE_HOSTS)
  const checked = checkUserUrl(delivery.url, allowed)
  if ("error" in checked) return refusedAttempt(checked.error, true)
  const { id } = delivery
  const body = await readBody(env.MEDIA, delivery)
  if (body === null) return refusedAttempt("what it was to send is gone", false)
  const now = Date.now()
  const timestampSeconds = Math.floor(now / 1000)
  const secrets = signingSecrets(account, now)
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
 * Puts a delivery back into the queue until its host may have a permit again. It waits longer the
 * older it is, so that many deliveries to one slow receiver cost few messages.
 */
async function requeue(env: Env, { delivery }: DueDelivery): Promise<void> {
  const { id, accountId, createdAt } = delivery
  const now = Date.now()
  const ageSeconds = (now - createdAt) / 1000
  const waitMs = Math.ceil(Math.min(BUSY_SECONDS_MAX, Math.max(1, ageSeconds / 4))) * 1000
  const dueAt = now + waitMs
  if (!(await postponeDelivery(databaseOf(env, accountId), delivery, dueAt))) return
  await enqueueDelivery(env, { accountId, deliveryId: id, dueAt })
}
