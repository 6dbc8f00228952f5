import type { Proxy } from "../../egress/proxy.ts"
import type { RateLimits } from "../../egress/rate-limits.ts"

/** The watch over how slowly a tool's bytes come. */
type RateWatch = Disposable & {
  /** Aborts when they come too slowly. */
  signal: AbortSignal
  /** Bytes a second that came then; null: they do not come too slowly. */
  slowRate(): number | null
}

const LOOK_MS_MAX = 1000

/**
 * Watches what comes in by a proxy. Only the time in which a connection is open counts, and no more
 * of a silence than a download lasts: a tool may keep a connection while it converts what it has.
 */
export function watchRate(
  proxy: Pick<Proxy, "isOpen" | "received">,
  { slowMs, bytesPerSecondMin, stallMs }: RateLimits,
): RateWatch {
  const slow = new AbortController()
  let rate: number | null = null
  let lookedMs = performance.now()
  let silentMs = 0
  let seenBytes = proxy.received()
  let judged = { ms: 0, bytes: 0 }
  function look(): void {
    const nowMs = performance.now()
    if (proxy.isOpen()) silentMs += nowMs - lookedMs
    lookedMs = nowMs
    const bytes = proxy.received() - seenBytes
    if (bytes === 0) return
    seenBytes += bytes
    judged = { ms: judged.ms + Math.min(silentMs, stallMs), bytes: judged.bytes + bytes }
    silentMs = 0
    if (judged.ms < slowMs) return
    const came = (judged.bytes * 1000) / judged.ms
    judged = { ms: 0, bytes: 0 }
    if (came >= bytesPerSecondMin) return
    rate ??= Math.round(came)
    slow.abort()
  }
  const timer = setInterval(look, Math.min(LOOK_MS_MAX, stallMs / 4))
  return {
    signal: slow.signal,
    slowRate: () => rate,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
