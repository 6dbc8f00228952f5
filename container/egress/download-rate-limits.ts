/** Limits below which a download counts as stalled or too slow. */
export type DownloadRateLimits = {
  /** Time without received data after which a download counts as stalled, in milliseconds. */
  stallMs: number
  /**
   * Period in which the average rate of a download must reach `bytesPerSecondMin`, in milliseconds.
   */
  slowMs: number
  bytesPerSecondMin: number
}

export const DOWNLOAD_RATE_LIMITS: DownloadRateLimits = {
  stallMs: 30_000,
  slowMs: 60_000,
  bytesPerSecondMin: 1024,
}
