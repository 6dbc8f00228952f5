import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { askJson } from "./api.ts"
import type { CheckApi } from "./api.ts"
import { StepError } from "./step-error.ts"

const POLL_MS = 500
/** The first try begins within seconds; tries after it wait for minutes. */
const DELIVERED_MS_MAX = 60_000

/** The address of one check of webhooks, and what the service answers there. */
export type CheckWebhook = { url: string; answer: string; refusal: string | null }

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

/** Creates a job with the webhook of the check, and without one where the service refuses its address. */
export async function sendWebhook<Created>(
  webhook: CheckWebhook,
  create: (fields: { webhook?: string }) => Promise<Created>,
): Promise<Created> {
  try {
    return await create({ webhook: webhook.url })
  } catch (error) {
    const isRefused = error instanceof StepError && error.evidence.fields?.join() === "webhook"
    if (!isRefused) throw error
    webhook.refusal = "422 for its address"
    return await create({})
  }
}

/** Waits until the webhook of a job arrived at its address, which its answer proves. */
export async function untilDelivered(
  api: CheckApi,
  { answer }: CheckWebhook,
  jobId: string,
): Promise<string> {
  const untilMs = Math.min(api.untilMs, performance.now() + DELIVERED_MS_MAX)
  for (;;) {
    const [delivery] = await askJson(api, `/webhooks/deliveries?job_id=${jobId}`, deliveries)
    const last = delivery?.tries.at(-1)
    if (delivery?.status === "delivered") {
      if (last?.answer?.includes(answer)) return "it arrived with its nonce, and was answered 200"
      const message = `something else answered it with ${last?.status}: ${last?.answer ?? ""}`
      throw new StepError(message, { code: ANSWERED_ELSEWHERE })
    }
    // Tries after the first wait longer than a check does.
    if (last) {
      const message = `its first try failed: ${last.error ?? last.status}`
      throw new StepError(message, { ...(last.status !== null && { status: last.status }) })
    }
    if (performance.now() > untilMs) {
      throw new StepError("it was not tried within a minute of its job's end", { code: NOT_TRIED })
    }
    await sleep(POLL_MS, undefined, { signal: api.signal })
  }
}

/** Codes of webhooks that did not arrive. */
export const NOT_TRIED = "webhook_not_tried"
export const ANSWERED_ELSEWHERE = "webhook_answered_elsewhere"
