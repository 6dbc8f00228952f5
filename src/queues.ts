import { z } from "zod"
import type { Env } from "./env.ts"
import { logError } from "./log.ts"
import { deliver } from "./pipeline/deliver.ts"

const jobMessage = z.object({
  accountId: z.string(),
  tasks: z.array(
    z.object({ id: z.string(), jobId: z.string(), priority: z.number(), blocked: z.boolean() }),
  ),
})

type JobMessage = z.infer<typeof jobMessage>

const webhookMessage = z.object({ deliveryId: z.string() })

/** Takes messages of every queue of the service. */
export async function consume(
  batch: MessageBatch,
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
): Promise<void> {
  if (batch.queue.endsWith("-dead")) {
    // The sweep finds jobs and deliveries again without their message; what died is only told.
    logError("queue.dead_letters", { queue: batch.queue, count: batch.messages.length })
    return
  }
  if (batch.queue.endsWith("-webhooks")) return startDeliveries(batch, env, ctx)
  await acceptJobs(batch, env)
}

async function acceptJobs(batch: MessageBatch, env: Env): Promise<void> {
  const byAccount = new Map<string, { message: Message; tasks: JobMessage["tasks"] }[]>()
  for (const message of batch.messages) {
    const { accountId, tasks } = jobMessage.parse(message.body)
    byAccount.set(accountId, [...(byAccount.get(accountId) ?? []), { message, tasks }])
  }
  await Promise.all(
    [...byAccount].map(async ([accountId, told]) => {
      try {
        const tasks = told.flatMap((each) => each.tasks)
        await env.DISPATCHER.getByName(accountId).accept(accountId, tasks)
      } catch (error) {
        logError("queue.accept_failed", { error: String(error) })
        for (const { message } of told) message.retry()
      }
    }),
  )
}

/** Nobody waits here for a receiver: what fails is found by the sweep. */
function startDeliveries(
  batch: MessageBatch,
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
): void {
  for (const message of batch.messages) {
    const { deliveryId } = webhookMessage.parse(message.body)
    ctx.waitUntil(
      deliver(env, deliveryId).catch((error: unknown) => {
        logError("webhooks.delivery_failed", { delivery_id: deliveryId, error: String(error) })
      }),
    )
  }
}
