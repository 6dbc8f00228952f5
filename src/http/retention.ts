import { retentionOf } from "../env.ts"
import type { Fault } from "../faults.ts"
import { unprocessables } from "./problem.ts"
import type { AppContext } from "./request.ts"

/** What is wrong with the `expires_in` of a body beyond its schema: nothing is kept beyond RETENTION_DAYS. */
export function expiryFaults(c: AppContext, body: object): Fault[] {
  const seconds: unknown = new Map<string, unknown>(Object.entries(body)).get("expires_in")
  const { retentionMsMax } = retentionOf(c.env)
  if (typeof seconds !== "number" || retentionMsMax === null || seconds * 1000 <= retentionMsMax)
    return []
  const message = `expected at most ${retentionMsMax / 1000}, since this service keeps nothing for longer`
  return [{ field: "expires_in", message }]
}

/**
 * How long after its end a job is kept with what it stored, in milliseconds; null for ever. 422 where
 * its caller asks for more than the service has.
 */
export function readRetentionMs(
  c: AppContext,
  fields: { expires_in?: number | null | undefined },
): number | null {
  const faults = expiryFaults(c, fields)
  if (faults.length > 0) throw unprocessables(faults)
  const seconds = fields.expires_in ?? null
  return seconds === null ? retentionOf(c.env).retentionMsMax : seconds * 1000
}
