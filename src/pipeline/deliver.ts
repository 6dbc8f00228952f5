import { signingSecrets } from "../contract/webhook-secret.ts"
import { signWebhook } from "../contract/webhook-signature.ts"
import { checkUserUrl, readHosts } from "../contract/user-url.ts"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { openDatabase } from "../storage/database.ts"
import { endTry, findDueDelivery, postponeDelivery } from "../storage/deliveries.ts"
import type { DueDelivery } from "../storage/deliveries.ts"
import { afterTry } from "./delivery.ts"
import type { Attempt } from "./delivery.ts"
import { enterLanes } from "./lanes.ts"
import { postWebhook, refusedAttempt } from "./post-webhook.ts"
import { nudgeDelivery } from "./settle.ts"

/** A try that said nothing by then is made again by whoever comes next. */
const CLAIM_MS = 60_000
/** A receiver that is quick makes room in its lane before it is worth another message. */
const LANE_WAITS_MS = [10, 20, 40, 80, 160]
const DELAY_SECONDS_MAX = 86_400
const BUSY_SECONDS_MAX = 60

/** Makes the next try of a delivery, where it is due and nobody else makes it. */
export async function deliver(env: Env, deliveryId: string): Promise<void> {
  const due = await findDueDelivery(openDatabase(env.DB), deliveryId, Date.now())
  if (!due) return
  const { accountId, url } = due.delivery
  const place = { accountId, host: new URL(url).host }
  const leave = await enterSoon(place)
  if (!leave) return await comeAgain(env, due)
  try {
    await tryOnce(env, due)
  } finally {
    leave()
  }
}

async function enterSoon(place: { accountId: string; host: string }) {
  for (const waitMs of LANE_WAITS_MS) {
    const now = Date.now()
    const leave = enterLanes(place, now, now + CLAIM_MS)
    if (leave) return leave
    await scheduler.wait(waitMs)
  }
  return null
}

async function tryOnce(env: Env, due: DueDelivery): Promise<void> {
  const database = openDatabase(env.DB)
  const { delivery } = due
  const claimedUntil = Date.now() + CLAIM_MS
  if (!(await postponeDelivery(database, delivery, claimedUntil))) return
  const attempt = await post(env, due)
  const waits = settingsOf(env).WEBHOOK_RETRY_SECONDS
  const { state, waitMs } = afterTry(attempt, delivery.tries, waits)
  const now = Date.now()
  await endTry(database, { ...delivery, nextTryAt: claimedUntil }, attempt, {
    state,
    tries: delivery.tries + 1,
    nextTryAt: now + waitMs,
    completedAt: state === "waiting" ? null : now,
  })
  if (state === "waiting") await nudgeDelivery(env, delivery.id, delaySeconds(waitMs))
}

async function post(env: Env, { delivery, account }: DueDelivery): Promise<Attempt> {
  const allowed = readHosts(settingsOf(env).ALLOWED_PRIVATE_HOSTS)
  const checked = checkUserUrl(delivery.url, allowed)
  if ("error" in checked) return refusedAttempt(checked.error)
  const { id, body } = delivery
  const now = Date.now()
  const timestampSeconds = Math.floor(now / 1000)
  const secrets = signingSecrets(account, now)
  const headers = {
    "content-type": "application/json",
    "user-agent": "lathe-webhooks/1",
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": await signWebhook(secrets, { id, timestampSeconds, body }),
  }
  return await postWebhook(checked.url.href, headers, body)
}

/**
 * Lets a delivery come again when its lane may have room. It waits longer the older it is, so that
 * many that wait for one slow receiver do not keep the service busy with asking.
 */
async function comeAgain(env: Env, { delivery }: DueDelivery): Promise<void> {
  const now = Date.now()
  const ageSeconds = (now - delivery.createdAt) / 1000
  const waitMs = Math.ceil(Math.min(BUSY_SECONDS_MAX, Math.max(1, ageSeconds / 4))) * 1000
  if (!(await postponeDelivery(openDatabase(env.DB), delivery, now + waitMs))) return
  await nudgeDelivery(env, delivery.id, delaySeconds(waitMs))
}

function delaySeconds(waitMs: number): number {
  return Math.min(DELAY_SECONDS_MAX, Math.ceil(waitMs / 1000))
}
