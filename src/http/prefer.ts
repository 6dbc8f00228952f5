import type { AppContext } from "./context.ts"

const WAIT_SECONDS_MAX = 60

/**
 * How long the caller would wait for a job's end, in milliseconds; null where it does not say so
 * (RFC 7240). The answer says what is honoured.
 */
export function preferredWaitMs(c: AppContext): number | null {
  const asked = /(?:^|,)\s*wait\s*=\s*([^\s,;]*)/i.exec(c.req.header("prefer") ?? "")?.[1] ?? ""
  const digits = /^(?:"(\d{1,9})"|(\d{1,9}))$/.exec(asked)
  if (!digits) return null
  const seconds = Math.min(Number(digits[1] ?? digits[2]), WAIT_SECONDS_MAX)
  c.header("preference-applied", `wait=${seconds}`)
  return seconds * 1000
}
