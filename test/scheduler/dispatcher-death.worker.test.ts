import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { taskOrderSchema } from "../../src/contract/task.ts"
import { newId } from "../../src/platform/ids.ts"
import { Dispatcher } from "../../src/scheduler/dispatcher.ts"
import { endOpenJob } from "../../src/jobs/settle/settle.ts"
import { PoolSlots } from "../../src/scheduler/slots.ts"
import { TEST_BOOT_ID } from "../support/media/bundle.ts"
import { makeQueuedJob } from "../support/db/queued-job.ts"
import { listStoredTasks } from "../support/db/queued-tasks.ts"

const PATIENCE = { timeout: 60_000 }
const failure = { code: "canceled" as const, message: "Canceled.", lines: [] }

let accountId: string
/** Fences at which a runner got the task. */
let posted: number[]

beforeEach(() => {
  accountId = newId()
  posted = []
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    if (request.method !== "POST") return Response.json({})
    posted.push(taskOrderSchema.parse(await request.json()).fence)
    return Response.json({ boot: TEST_BOOT_ID }, { status: 202 })
  })
})

afterEach(() => {
  vi.restoreAllMocks()
})

async function heldSlots(pool: string): Promise<number> {
  return await runInDurableObject(env.POOL.getByName(pool), (_, { storage: { sql } }) => {
    return new PoolSlots(sql).of(accountId).length
  })
}

/**
 * Lets a dispatcher post a task to its runner, runs `work`, and replaces the dispatcher by a new
 * one.
 */
async function die(
  work: (before: Dispatcher, job: { jobId: string; taskId: string }) => Promise<void>,
  then: (after: Dispatcher, storage: DurableObjectStorage) => Promise<void>,
): Promise<void> {
  const { message, ...job } = await makeQueuedJob(accountId)
  await env.DB.prepare(
    "insert into accounts (id, name, plan, webhook_secret, created_at) values (?, ?, 'paid', '', 0)",
  )
    .bind(accountId, accountId)
    .run()
  await runInDurableObject(env.DISPATCHER.getByName(accountId), async (_, ctx) => {
    const before = new Dispatcher(ctx, env)
    await before.accept(accountId, [{ ...message, blocked: false }])
    await expect.poll(() => posted, PATIENCE).toEqual([1])
    await work(before, job)
    const rows = listStoredTasks(ctx.storage)
    expect(rows).toMatchObject([{ id: job.taskId, state: "starting", fence: null }])
    const after = new Dispatcher(ctx, env)
    await then(after, ctx.storage)
    await endOpenJob(env, { accountId, jobId: job.jobId }, { state: "canceled", failure })
    await after.tasksEnded(accountId, [job.taskId], false, true)
    // The next test gets the slot.
    await expect.poll(() => heldSlots("media"), PATIENCE).toBe(0)
    await ctx.storage.deleteAlarm()
  })
}

it("a run without a saved heartbeat continues at its fence", async () => {
  await die(
    async () => undefined,
    async (after) => {
      await after.alarm()
      await expect.poll(() => posted, PATIENCE).toEqual([1, 1])
    },
  )
})

it("a run keeps its lease from a dispatcher that does not know it yet", async () => {
  let heartbeat = { taskId: "", fence: 1, boot: TEST_BOOT_ID }
  let jobId = ""
  await die(
    async (_, job) => {
      heartbeat = { ...heartbeat, taskId: job.taskId }
      jobId = job.jobId
    },
    async (after) => {
      expect(await after.renewLease(accountId, jobId, heartbeat)).toBe(true)
      expect(await after.renewLease(accountId, jobId, { ...heartbeat, fence: 2 })).toBe(false)
    },
  )
})

it("a finished run is not started again, and its slot is free", async () => {
  await die(
    async (before, { jobId, taskId }) => {
      await endOpenJob(env, { accountId, jobId }, { state: "canceled", failure })
      await before.tasksEnded(accountId, [taskId], false, true)
      await expect.poll(() => heldSlots("media"), PATIENCE).toBe(0)
    },
    async (after, storage) => {
      await after.alarm()
      await expect.poll(() => listStoredTasks(storage), PATIENCE).toEqual([])
      expect(posted).toEqual([1])
    },
  )
})

it("a slot whose release was not sent is released by the next dispatcher", async () => {
  await die(
    async (_, { jobId }) => {
      await endOpenJob(env, { accountId, jobId }, { state: "canceled", failure })
      expect(await heldSlots("media")).toBe(1)
    },
    async (after) => {
      await after.alarm()
      await expect.poll(() => heldSlots("media"), PATIENCE).toBe(0)
    },
  )
})
