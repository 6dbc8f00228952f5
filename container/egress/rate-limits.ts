/** How slowly media may come. */
export type RateLimits = {
  /** Without a byte of a body. */
  stallMs: number
  /** The time over which a body must have come at `bytesPerSecondMin`. */
  slowMs: number
  bytesPerSecondMin: number
}

export const RATE_LIMITS: RateLimits = {
  stallMs: 30_000,
  slowMs: 60_000,
  bytesPerSecondMin: 1024,
}
