import { waitUntil } from "cloudflare:workers"
import { doOrLog } from "../log.ts"

/**
 * Does work after the answer to the request, so that neither the answer nor its time depends on the
 * work. Logs an error of the work as `event`.
 */
export function doLater(event: string, work: () => Promise<unknown>): void {
  waitUntil(doOrLog(event, {}, work))
}
