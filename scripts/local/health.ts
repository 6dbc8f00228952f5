import { setTimeout as sleep } from "node:timers/promises"
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import { Complaint } from "./complaint.ts"

const ASK_AGAIN_AFTER_MS = 50
const ANSWER_WITHIN_MS = 2000

/** Waits until a URL of the Worker or the runner answers with success; throws a Complaint after `patienceMs`. */
export async function untilHealthy(
  url: string,
  patienceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const lastTryAt = Date.now() + patienceMs
  while (!(await isHealthy(url))) {
    if (Date.now() > lastTryAt) {
      throw new Complaint(`${url} did not answer with success within ${patienceMs / 1000} seconds.`)
    }
    await sleep(ASK_AGAIN_AFTER_MS, undefined, { signal })
  }
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      headers: { [PROTOCOL_HEADER]: PROTOCOL_VERSION },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}
