import { logError } from "../../log.ts"

/** Waits for all chores of a sweep; logs those that fail, which the next sweep does again. */
export async function doAll(chores: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(chores)) {
    if (result.status === "rejected") logError("sweep.failed", { error: String(result.reason) })
  }
}
