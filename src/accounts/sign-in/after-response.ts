import { waitUntil } from "cloudflare:workers"
import { runOrLogError } from "../../platform/log.ts"

/**
 * Runs work after the response, so that neither the content nor the duration of the response
 * depends on the work. Logs an error of the work under the name `event`.
 */
export function runAfterResponse(event: string, work: () => Promise<unknown>): void {
  waitUntil(runOrLogError(event, {}, work))
}
