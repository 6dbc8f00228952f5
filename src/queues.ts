import { z } from "zod"
import { configureLog } from "./bindings/env.ts"
import type { Env } from "./bindings/env.ts"
import { logError } from "./platform/log.ts"
import { getDispatcher } from "./bindings/durable-objects.ts"
import type { JobMessage } from "./scheduler/enqueue.ts"
import { storeDeadLetters } from "./upkeep/dead-letters.ts"
import { attemptDelivery } from "./webhooks/deliver.ts"
import { enqueueDelivery } from "./webhooks/outbox.ts"
import type { DeliveryMessage } from "./webhooks/outbox.ts"

const jobMessage: z.ZodType<JobMessage> = z.object({
  accountId: z.string(),
  tasks: z.array(
    z.object({
      id: z.string(),
      jobId: z.string(),
      pool: z.string(),
      priority: z.number(),
      blocked: z.boolean(),
      weight: z.number(),
      jobWeight: z.number(),
      createdAt: z.number(),
    }),
  ),
})

const webhookMessage: z.ZodType<DeliveryMessage> = z.object({
  accountId: z.string(),
  deliveryId: z.string(),
  dueAt: z.number().optional(),
})

/** Handles a batch of messages from any queue of the service. */
export async function consumeQueueMessages(
  batch: MessageBatch,
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
): Promise<void> {
  configureLog(env)
  if (batch.queue.endsWith("-dead")) {
    // The sweep finds jobs and deliveries whose messages failed. The stored dead letters let the
    // operator find the cause.
    await storeDeadLetters(env, batch.queue, batch.messages)
    logError("queue.dead_letters", { queue: batch.queue, count: batch.messages.length })
    return
  }
  if (batch.queue.endsWith("-webhooks")) return startDeliveries(batch, env, ctx)
  await acceptJobs(batch, env)
}

async function acceptJobs(batch: MessageBatch, env: Env): Promise<void> {
  const byAccount = new Map<string, { message: Message; tasks: JobMessage["tasks"] }[]>()
  for (const message of batch.messages) {
    const read = readMessage(batch, message, jobMessage)
    if (!read) continue
    const { accountId, tasks } = read
    const group = byAccount.get(accountId) ?? []
    group.push({ message, tasks })
    byAccount.set(accountId, group)
  }
  await Promise.all(
    [...byAccount].map(async ([accountId, received]) => {
      try {
        const tasks = received.flatMap((each) => each.tasks)
        await getDispatcher(env, accountId).accept(accountId, tasks)
      } catch (error) {
        logError("queue.accept_failed", { error: String(error) })
        for (const { message } of received) message.retry()
      }
    }),
  )
}

/** Starts webhook deliveries in the background, so that a slow receiver delays no other message. */
function startDeliveries(
  batch: MessageBatch,
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
): void {
  for (const message of batch.messages) {
    const read = readMessage(batch, message, webhookMessage)
    if (!read) continue
    ctx.waitUntil(
      takeDelivery(env, read).catch((error: unknown) => {
        logError("webhooks.delivery_failed", { delivery_id: read.deliveryId, error: String(error) })
      }),
    )
  }
}

async function takeDelivery(env: Env, message: DeliveryMessage): Promise<void> {
  const { accountId, deliveryId, dueAt = 0 } = message
  if (dueAt > Date.now()) return await enqueueDelivery(env, message)
  await attemptDelivery(env, accountId, deliveryId)
}

/**
 * Parses a queue message. Returns null for a malformed message, which the caller drops because a
 * retry cannot help.
 */
function readMessage<Value>(
  { queue }: MessageBatch,
  message: Message,
  schema: z.ZodType<Value>,
): Value | null {
  const read = schema.safeParse(message.body)
  if (read.success) return read.data
  const error = z.prettifyError(read.error)
  logError("queue.unreadable_message", { queue, id: message.id, error })
  return null
}
