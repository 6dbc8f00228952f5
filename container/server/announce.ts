import { BOOT_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import { log } from "../log.ts"
import { retry } from "../transfer/promises.ts"

const TIMEOUT_MS = 5000
/** The Worker may still be starting; later it notices by expired leases. */
const RETRIES = { attempts: 12, firstDelayMs: 200, delayMsMax: 4000 }

/** Tells the Worker that a new process started, so that it need not wait for old leases to expire. */
export async function announceRunner(to: {
  url: string
  token: string
  boot: string
}): Promise<void> {
  try {
    await retry({ ...RETRIES, signal: new AbortController().signal }, async () => {
      const response = await fetch(to.url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${to.token}`,
          "content-type": "application/json",
          [PROTOCOL_HEADER]: PROTOCOL_VERSION,
          [BOOT_HEADER]: to.boot,
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
