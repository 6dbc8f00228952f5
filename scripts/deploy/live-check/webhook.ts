import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { requestLiveCheckJson } from "./api.ts"
import type { LiveCheckApi } from "./api.ts"
import { LiveCheckStepError } from "./step-error.ts"

const POLL_MS = 500
/**
 * Maximum wait for the first try of the webhook, in milliseconds. The first try starts within
 * seconds after the end of the job.
 */
const DELIVERED_MS_MAX = 60_000

/**
 * URL that receives the webhook of one live check, and the response of the service at that URL.
 * `refusal` is the reason why the service refuses the URL, else null.
 */
export type LiveCheckWebhook = { url: string; answer: string; refusal: string | null }

const deliveries = z.array(
  z.object({
    status: z.string(),
    tries: z.array(
      z.object({
        status: z.number().nullable(),
        answer: z.string().nullable(),
        error: z.string().optional(),
      }),
    ),
  }),
)

/**
 * Creates a job with the webhook of the live check. If the service refuses the URL of the webhook,
 * creates the job without the webhook and records the refusal.
 */
export async function createJobWithWebhook<Created>(
  webhook: LiveCheckWebhook,
  create: (fields: { webhook?: string }) => Promise<Created>,
): Promise<Created> {
  try {
    return await create({ webhook: webhook.url })
  } catch (error) {
    const isRefused =
      error instanceof LiveCheckStepError && error.evidence.fields?.join() === "webhook"
    if (!isRefused) throw error
    webhook.refusal = "422 for its address"
    return await create({})
  }
}

/**
 * Waits until the webhook of a job was delivered. Throws a LiveCheckStepError unless the response
 * proves that the right service received the webhook.
 */
export async function waitUntilWebhookIsDelivered(
  api: LiveCheckApi,
  { answer }: LiveCheckWebhook,
  jobId: string,
): Promise<string> {
  const untilMs = Math.min(api.untilMs, performance.now() + DELIVERED_MS_MAX)
  for (;;) {
    const [delivery] = await requestLiveCheckJson(
      api,
      `/webhooks/deliveries?job_id=${jobId}`,
      deliveries,
    )
    const last = delivery?.tries.at(-1)
    if (delivery?.status === "delivered") {
      if (last?.answer?.includes(answer)) return "it arrived with its nonce, and was answered 200"
      const message = `another server answered it with ${last?.status}: ${last?.answer ?? ""}`
      throw new LiveCheckStepError(message, { code: WEBHOOK_ANSWERED_ELSEWHERE_CODE })
    }
    // Fails after the first failed try, because the check ends before the next try.
    if (last) {
      const message = `its first try failed: ${last.error ?? last.status}`
      throw new LiveCheckStepError(message, {
        ...(last.status !== null && { status: last.status }),
      })
    }
    if (performance.now() > untilMs) {
      throw new LiveCheckStepError("it was not tried within a minute of its job's end", {
        code: WEBHOOK_NOT_TRIED_CODE,
      })
    }
    await sleep(POLL_MS, undefined, { signal: api.signal })
  }
}

/**
 * Error codes of the webhook step: no try was made, or another server than the checked service
 * received the webhook.
 */
export const WEBHOOK_NOT_TRIED_CODE = "webhook_not_tried"
export const WEBHOOK_ANSWERED_ELSEWHERE_CODE = "webhook_answered_elsewhere"
