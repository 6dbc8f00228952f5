import { z } from "zod"
import type { Env } from "./env.ts"
import { logError } from "./log.ts"

const jobMessage = z.object({
  accountId: z.string(),
  tasks: z.array(
    z.object({ id: z.string(), jobId: z.string(), priority: z.number(), blocked: z.boolean() }),
  ),
})

type JobMessage = z.infer<typeof jobMessage>

/** Takes messages of every queue of the service. */
export async function consume(batch: MessageBatch, env: Env): Promise<void> {
  if (batch.queue.endsWith("-dead")) {
    // The sweep finds jobs again without their message; what died here is only told.
    logError("queue.dead_letters", { count: batch.messages.length })
    return
  }
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
