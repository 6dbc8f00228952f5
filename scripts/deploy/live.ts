import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { Complaint } from "../local/complaint.ts"

const PATIENCE_MS = 300_000
const ASK_AGAIN_AFTER_MS = 2000
const ANSWER_WITHIN_MS = 10_000

const healthy = z.object({ status: z.literal("ok") })

/** Waits until the service says that it is well; a new name takes minutes to be known. */
export async function untilLive(origin: string): Promise<void> {
  const url = `${origin}/v1/health`
  const lastTryAt = Date.now() + PATIENCE_MS
  for (;;) {
    const said = await askHealth(url)
    if (said === null) return
    if (Date.now() > lastTryAt) {
      throw new Complaint(
        `${url} did not answer with "ok" within ${PATIENCE_MS / 1000} seconds; at last it said: ${said}`,
      )
    }
    await sleep(ASK_AGAIN_AFTER_MS)
  }
}

/** Whether the operator's routes open with a token. */
export async function opensOperatorRoutes(origin: string, token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` }
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
  const response = await fetch(`${origin}/operator/keys`, { headers, signal })
  await response.body?.cancel()
  return response.ok
}

/** Null where the service is well, else what was heard instead. */
async function askHealth(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    const text = await response.text()
    if (!response.ok) return `status ${response.status}`
    return healthy.safeParse(JSON.parse(text)).success ? null : "something else"
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
