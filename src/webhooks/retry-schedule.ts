import type { DeliveryState } from "../domain/states.ts"

const RETRY_AFTER_MS_MAX = 24 * 3_600_000
const GONE = 410

/** Result of one try of a webhook delivery; `status` is null without a response. */
export type DeliveryTryResult = {
  startedAt: number
  durationMs: number
  status: number | null
  /** Reason why the try failed, or null if the webhook was delivered. */
  error: string | null
  /** Beginning of the response body. */
  answer: string | null
  /** Retry-After header of the response, unparsed. */
  retryAfter: string | null
  /** Whether the result is due to the receiver, and not to a failure within the service. */
  isOfReceiver: boolean
  /** Whether the delivery gets no further try. */
  isLast?: boolean
}

/** State of a delivery after a try. `waitMs` is the wait until the next try. */
export type NextDeliveryState = { state: DeliveryState; waitMs: number }

/** Reports whether the receiver responded with 410 (Gone) and wants no more webhooks. */
export function isReceiverGone({ status }: DeliveryTryResult): boolean {
  return status === GONE
}

/**
 * Returns the state of a delivery after a try. `tries` is the number of earlier tries since the
 * delivery was created or last replayed at the account's request.
 */
export function computeNextDeliveryState(
  attempt: DeliveryTryResult,
  tries: number,
  waitsSeconds: readonly number[],
): NextDeliveryState {
  if (attempt.error === null) return { state: "delivered", waitMs: 0 }
  const waitSeconds = waitsSeconds[tries]
  const isLast = attempt.isLast || isReceiverGone(attempt) || waitSeconds === undefined
  if (isLast) return { state: "failed", waitMs: 0 }
  const endedAt = attempt.startedAt + attempt.durationMs
  const askedMs = parseWebhookRetryAfter(attempt.retryAfter, endedAt)
  return { state: "waiting", waitMs: Math.max(waitSeconds * 1000, askedMs) }
}

/**
 * Returns the wait that a Retry-After header requests, in milliseconds from `now` and at most a
 * day. Returns 0 if the header is absent or invalid.
 */
export function parseWebhookRetryAfter(header: string | null, now: number): number {
  const text = header?.trim() ?? ""
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return ms > 0 ? Math.min(ms, RETRY_AFTER_MS_MAX) : 0
}
