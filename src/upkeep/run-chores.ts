import { logError } from "../platform/log.ts"

/**
 * Waits for all chores of a sweep. Logs the chores that fail. The next sweep repeats failed chores.
 */
export async function awaitSweepChores(chores: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(chores)) {
    if (result.status === "rejected") logError("sweep.failed", { error: String(result.reason) })
  }
}
