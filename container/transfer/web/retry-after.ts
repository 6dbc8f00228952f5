/**
 * Parses a Retry-After header, which contains seconds or a date. Returns the delay in milliseconds;
 * null if the header is missing or invalid.
 */
export function parseRetryAfterMs(header: string | undefined): number | null {
  if (header === undefined) return null
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}
