import {
  RUNNER_BOOT_ID_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
} from "../../src/contract/protocol.ts"
import { log } from "../log.ts"
import { retryWithBackoff } from "../transfer/concurrency-and-retry.ts"

const TIMEOUT_MS = 5000
/**
 * Retry policy of the announcement, since the Worker may still be starting. If all attempts fail,
 * the Worker detects the new runner process when the leases of the old process expire.
 */
const RETRIES = { attempts: 12, firstDelayMs: 200, delayMsMax: 4000 }

/**
 * Announces a new runner process to the Worker, so that the Worker can requeue the tasks of the old
 * process before their leases expire.
 */
export async function announceRunner(to: {
  url: string
  token: string
  boot: string
}): Promise<void> {
  try {
    await retryWithBackoff({ ...RETRIES, signal: new AbortController().signal }, async () => {
      const response = await fetch(to.url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${to.token}`,
          "content-type": "application/json",
          [PROTOCOL_HEADER]: PROTOCOL_VERSION,
          [RUNNER_BOOT_ID_HEADER]: to.boot,
        },
        body: JSON.stringify({ boot: to.boot }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`The Worker answered ${response.status}.`)
    })
  } catch (error) {
    log("warn", "announce.failed", { error: String(error) })
  }
}
