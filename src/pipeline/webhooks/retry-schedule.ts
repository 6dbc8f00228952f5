import type { DeliveryState } from "../../storage/schema/states.ts"

const RETRY_AFTER_MS_MAX = 24 * 3_600_000
const GONE = 410

/** The result of one POST of a webhook; `status` is null where there was no answer. */
export type Attempt = {
  startedAt: number
  durationMs: number
  status: number | null
  /** Why it does not count as delivered, in words. */
  error: string | null
  /** The first characters of what was answered. */
  answer: string | null
  /** The answer's Retry-After, as it was sent. */
  retryAfter: string | null
  /** Whether it tells of the receiver; what the service itself could not do does not. */
  isOfReceiver: boolean
}

/** Where a delivery goes after a try: `waitMs` is how long the next one waits. */
export type AfterTry = { state: DeliveryState; waitMs: number }

/** Judges the try that came after `tries` earlier ones of its round, by the waits in seconds. */
export function afterTry(
  attempt: Attempt,
  tries: number,
  waitsSeconds: readonly number[],
): AfterTry {
  if (attempt.error === null) return { state: "delivered", waitMs: 0 }
  const waitSeconds = waitsSeconds[tries]
  if (attempt.status === GONE || waitSeconds === undefined) return { state: "failed", waitMs: 0 }
  const endedAt = attempt.startedAt + attempt.durationMs
  const askedMs = readRetryAfter(attempt.retryAfter, endedAt)
  return { state: "waiting", waitMs: Math.max(waitSeconds * 1000, askedMs) }
}

/** A Retry-After header in milliseconds from `now`, at most a day; 0 where it says nothing. */
export function readRetryAfter(header: string | null, now: number): number {
  const text = header?.trim() ?? ""
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return ms > 0 ? Math.min(ms, RETRY_AFTER_MS_MAX) : 0
}
