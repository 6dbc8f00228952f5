/** Limits below which a download counts as stalled or too slow. */
export type DownloadRateLimits = {
  /** Time without a byte of the body after which a download counts as stalled, in milliseconds. */
  stallMs: number
  /** Time over which a download must average `bytesPerSecondMin`, in milliseconds. */
  slowMs: number
  bytesPerSecondMin: number
}

export const DOWNLOAD_RATE_LIMITS: DownloadRateLimits = {
  stallMs: 30_000,
  slowMs: 60_000,
  bytesPerSecondMin: 1024,
}
