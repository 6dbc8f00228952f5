import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, describe, expect, it, vi } from "vitest"
import { newId } from "../../src/platform/ids.ts"
import { consumeQueueMessages } from "../../src/queues.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { insertDelivery } from "../../src/db/deliveries.ts"
import { readJobSnapshot } from "../../src/db/jobs/apply-transition.ts"
import { makeQueuedJob } from "../support/db/queued-job.ts"

async function receive(queue: string, bodies: unknown[]): Promise<void> {
  const messages = bodies.map((body) => ({
    id: newId(),
    timestamp: new Date(),
    attempts: 1,
    body,
  }))
  const ctx = createExecutionContext()
  await consumeQueueMessages(createMessageBatch(queue, messages), env, ctx)
  await waitOnExecutionContext(ctx)
}

describe("a malformed message", () => {
  it("does not keep other jobs of its batch from being accepted", async () => {
    const accountId = newId()
    const { jobId, message } = await makeQueuedJob(accountId)
    await receive("lathe-jobs", [
      { nonsense: true },
      { accountId, tasks: [{ ...message, blocked: false }] },
    ])
    await expect
      .poll(async () => await readJobSnapshot(openAccountDatabases(env, accountId), jobId))
      .toMatchObject({ job: { acceptedAt: expect.any(Number) } })
  })

  it("does not keep other webhooks of its batch from being sent", async () => {
    const [accountId, id] = [newId(), newId()]
    await env.DB.prepare(
      "insert into accounts (id, name, plan, webhook_secret, created_at) values (?, ?, 'trial', 'whsec_c2VjcmV0', 0)",
    )
      .bind(accountId, accountId)
      .run()
    const delivery = { jobId: null, type: "webhook.test", url: "https://x.example/", body: "{}" }
    const due = { state: "waiting" as const, nextTryAt: 1, createdAt: 1 }
    await insertDelivery(openAccountDatabases(env, accountId), { id, ...delivery, ...due })
    await receive("lathe-webhooks", [{ nonsense: true }, { accountId, deliveryId: id }])
    const tries = env.DB.prepare("select tries from deliveries where id = ?").bind(id)
    expect(await tries.first("tries")).toBe(1)
  })
})

/** A queue that loses each message. */
async function takeNothing() {
  return await Promise.resolve({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } })
}

describe("a delivery that waits longer than a message can", () => {
  const HOUR_MS = 3_600_000
  const DELAY_SECONDS_MAX = 43_200

  afterEach(() => {
    vi.restoreAllMocks()
  })

  it("gets one message that is sent again for the rest", async () => {
    const send = vi.spyOn(env.WEBHOOKS, "send").mockImplementation(takeNothing)
    const [accountId, deliveryId] = [newId(), newId()]
    const early = { accountId, deliveryId, dueAt: Date.now() + 30 * HOUR_MS }
    await receive("lathe-webhooks", [early, { ...early, dueAt: Date.now() + HOUR_MS }])
    expect(send.mock.calls).toEqual([
      [early, { delaySeconds: DELAY_SECONDS_MAX }],
      [expect.objectContaining({ deliveryId }), { delaySeconds: 3600 }],
    ])
  })

  it("requests no longer delay after a try, and notes when it is due", async () => {
    const send = vi.spyOn(env.WEBHOOKS, "send").mockImplementation(takeNothing)
    const [accountId, id] = [newId(), newId()]
    await env.DB.prepare(
      "insert into accounts (id, name, plan, webhook_secret, created_at) values (?, ?, 'trial', 'whsec_c2VjcmV0', 0)",
    )
      .bind(accountId, accountId)
      .run()
    // No call is made, because the address is not public.
    const delivery = { jobId: null, type: "webhook.test", url: "https://x.example/", body: "{}" }
    const due = { state: "waiting" as const, nextTryAt: 1, createdAt: 1 }
    await insertDelivery(openAccountDatabases(env, accountId), { id, ...delivery, ...due })
    const ctx = createExecutionContext()
    const batch = createMessageBatch("lathe-webhooks", [
      { id: newId(), timestamp: new Date(), attempts: 1, body: { accountId, deliveryId: id } },
    ])
    await consumeQueueMessages(batch, { ...env, WEBHOOK_RETRY_SECONDS: "100000" }, ctx)
    await waitOnExecutionContext(ctx)
    const [[message, options] = []] = send.mock.calls
    expect(options).toEqual({ delaySeconds: DELAY_SECONDS_MAX })
    const nextTryAt = env.DB.prepare("select next_try_at from deliveries where id = ?").bind(id)
    expect(message).toMatchObject({ dueAt: await nextTryAt.first("next_try_at") })
  })
})
