/** Milliseconds that a Retry-After wants, in either of its forms; null where it wants nothing. */
export function readRetryAfter(header: string | undefined): number | null {
  if (header === undefined) return null
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}
