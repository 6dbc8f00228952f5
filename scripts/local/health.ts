import { setTimeout as sleep } from "node:timers/promises"
import { runnerHeaders } from "../../src/contract/protocol.ts"
import { Complaint } from "./complaint.ts"

const ASK_AGAIN_AFTER_MS = 50
const ANSWER_WITHIN_MS = 2000

/** Where the Worker or the runner says how it is, and the token that the runner wants. */
export type HealthDoor = { url: string; token?: string }

/** Waits until the Worker or the runner answers with success; throws a Complaint after `patienceMs`. */
export async function untilHealthy(
  door: HealthDoor,
  patienceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const lastTryAt = Date.now() + patienceMs
  while (!(await isHealthy(door))) {
    if (Date.now() > lastTryAt) {
      throw new Complaint(
        `${door.url} did not answer with success within ${patienceMs / 1000} seconds.`,
      )
    }
    await sleep(ASK_AGAIN_AFTER_MS, undefined, { signal })
  }
}

async function isHealthy({ url, token }: HealthDoor): Promise<boolean> {
  try {
    const response = await fetch(url, {
      headers: runnerHeaders(token),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}
