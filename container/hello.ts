import { BOOT_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION } from "../src/contract/protocol.ts"
import { log } from "./log.ts"
import { retry } from "./retry.ts"

const TIMEOUT_MS = 5000
/** The Worker may be coming up too; once a lease is over it knows by itself. */
const PACE = { tries: 12, firstWaitMs: 200, longestWaitMs: 4000 }

/** Tells the Worker that a new process came up, so that it need not wait for old leases to end. */
export async function sayHello(to: { url: string; token: string; boot: string }): Promise<void> {
  try {
    await retry({ ...PACE, signal: new AbortController().signal }, async () => {
      const answer = await fetch(to.url, {
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
      await answer.body?.cancel()
      if (!answer.ok) throw new Error(`The Worker answered ${answer.status}.`)
    })
  } catch (error) {
    log("hello.failed", { error: String(error) })
  }
}
