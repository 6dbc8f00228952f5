import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { newId } from "../src/ids.ts"
import { consume } from "../src/queues.ts"
import { databaseOf } from "../src/storage/database.ts"
import { insertDelivery } from "../src/storage/deliveries.ts"
import { readSnapshot } from "../src/storage/transitions.ts"
import { makeQueuedJob } from "./support/queued-job.ts"

async function receive(queue: string, bodies: unknown[]): Promise<void> {
  const messages = bodies.map((body) => ({
    id: newId(),
    timestamp: new Date(),
    attempts: 1,
    body,
  }))
  const ctx = createExecutionContext()
  await consume(createMessageBatch(queue, messages), env, ctx)
  await waitOnExecutionContext(ctx)
}

describe("a message that cannot be read", () => {
  it("keeps no job of its batch from being accepted", async () => {
    const accountId = newId()
    const { jobId, message } = await makeQueuedJob(accountId)
    await receive("lathe-jobs", [
      { nonsense: true },
      { accountId, tasks: [{ ...message, blocked: false }] },
    ])
    await expect
      .poll(async () => await readSnapshot(databaseOf(env, accountId), jobId))
      .toMatchObject({ job: { acceptedAt: expect.any(Number) } })
  })

  it("keeps no webhook of its batch from being sent", async () => {
    const [accountId, id] = [newId(), newId()]
    await env.DB.prepare(
      "insert into accounts (id, name, plan, webhook_secret, created_at) values (?, ?, 'trial', 'whsec_c2VjcmV0', 0)",
    )
      .bind(accountId, accountId)
      .run()
    const delivery = { jobId: null, type: "webhook.test", url: "https://x.example/", body: "{}" }
    const due = { state: "waiting" as const, nextTryAt: 1, createdAt: 1 }
    await insertDelivery(databaseOf(env, accountId), { id, ...delivery, ...due })
    await receive("lathe-webhooks", [{ nonsense: true }, { accountId, deliveryId: id }])
    const tries = env.DB.prepare("select tries from deliveries where id = ?").bind(id)
    expect(await tries.first("tries")).toBe(1)
  })
})
