import type { Env } from "../../env.ts"
import type { TaskMessage } from "../../rpc.ts"

/** What a JOBS message says; D1 has the rest. */
export type JobMessage = { accountId: string; tasks: TaskMessage[] }

const GATHER_MS = 20
const MESSAGES_MAX = 100
/** A request that was to send may have been ended by the platform; then the next one sends. */
const SENDER_MS_MAX = 1_000

const gathered: JobMessage[] = []
let senderSince = 0

/**
 * Sends a JOBS message, in one batch with those of other requests of the same moment. A lost
 * message costs time only: the dispatcher is called besides, and the sweep finds the job.
 */
export async function sendJobMessage(env: Env, message: JobMessage): Promise<void> {
  gathered.push(message)
  if (Math.abs(Date.now() - senderSince) < SENDER_MS_MAX) return
  senderSince = Date.now()
  await scheduler.wait(GATHER_MS)
  senderSince = 0
  while (gathered.length > 0) {
    const messages = gathered.splice(0, MESSAGES_MAX).map((body) => ({ body }))
    await env.JOBS.sendBatch(messages)
  }
}
