import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import type { Env } from "../../src/bindings/env.ts"
import { newId } from "../../src/platform/ids.ts"
import { Dispatcher } from "../../src/scheduler/dispatcher.ts"
import type { SlotRequest } from "../../src/bindings/rpc.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { TaskQueue } from "../../src/scheduler/queue.ts"
import { toNewQueueEntry, copyTaskAsStarting } from "../../src/scheduler/queued-task.ts"
import type { QueuedTask } from "../../src/scheduler/queued-task.ts"
import { SlotRequests } from "../../src/scheduler/slot-requests.ts"
import { PoolSlots } from "../../src/scheduler/slots.ts"
import { claimTask } from "../../src/db/jobs/tasks.ts"
import { readJobSnapshot } from "../../src/db/jobs/apply-transition.ts"
import { makeQueuedJob } from "../support/db/queued-job.ts"

type Allocations = { id: number; slot: string }[]

/** Runs with pools that answer requests by this function. */
function withPools(
  requestSlots: (pool: string, request: SlotRequest) => Promise<Allocations>,
): Env {
  const faked: object = { ...env, POOL: { getByName: () => ({ requestSlots }) } }
  if (!isEnv(faked)) throw new Error("no environment")
  return faked
}

function isEnv(made: object): made is Env {
  return "POOL" in made && "DB" in made
}

it("a pool that does not respond delays no task of another pool, now or later", async () => {
  const accountId = newId()
  const jobs = [
    await makeQueuedJob(accountId),
    await makeQueuedJob(accountId),
    await makeQueuedJob(accountId),
  ]
  const [slow, first, later] = jobs.map(({ message }) => ({ ...message, blocked: false }))
  if (!slow || !first || !later) throw new Error("no jobs")
  async function fences(): Promise<(number | undefined)[]> {
    const database = openAccountDatabases(env, accountId)
    const read = jobs.map(async ({ jobId }) => await readJobSnapshot(database, jobId))
    return (await Promise.all(read)).map((snapshot) => snapshot?.tasks[0]?.fence)
  }
  await env.DB.prepare(
    "insert into accounts (id, name, plan, webhook_secret, created_at) values (?, ?, 'paid', '', 0)",
  )
    .bind(accountId, accountId)
    .run()
  let id = 0
  const pools = withPools(async (pool, { wanted }) => {
    if (pool === "media") return await new Promise<never>(() => undefined)
    return Array.from({ length: wanted }, () => ({ id: (id += 1), slot: `${pool}-${id}` }))
  })
  await runInDurableObject(env.DISPATCHER.getByName(accountId), async (_, ctx) => {
    const dispatcher = new Dispatcher(ctx, pools)
    await dispatcher.accept(accountId, [slow, { ...first, pool: "light" }])
    await expect.poll(fences).toEqual([0, 1, 0])
    await dispatcher.accept(accountId, [{ ...later, pool: "light" }])
    await expect.poll(fences).toEqual([0, 1, 1])
    // Neither leases nor calls of other objects wait for the pool.
    await dispatcher.alarm()
    await dispatcher.tasksEnded(accountId, [])
    await ctx.storage.deleteAlarm()
  })
})

it("a slot from before the dispatcher's storage was lost is released, unless its run continues", async () => {
  const accountId = newId()
  const [pool, dispatcher] = [env.POOL.getByName("light"), env.DISPATCHER.getByName(accountId)]
  async function ask(number: number, wanted: number) {
    const request = { accountId, number, wanted, inUse: [], released: [] }
    return (await pool.requestSlots("light", request)) ?? []
  }
  async function held(): Promise<number[]> {
    return await runInDurableObject(pool, (_, { storage: { sql } }) =>
      new PoolSlots(sql).of(accountId).map(({ id }) => id),
    )
  }
  const [running] = await ask(1, 2)
  if (!running) throw new Error("no slot")
  const { jobId, taskId } = await makeQueuedJob(accountId)
  const { id: allocation, slot } = running
  const claim = { taskId, jobId, slot, allocation, now: Date.now() }
  await claimTask(openAccountDatabases(env, accountId), claim)
  await env.DB.batch([
    env.DB.prepare("update jobs set state = 'running' where id = ?").bind(jobId),
    env.DB.prepare("update tasks set pool = 'light' where id = ?").bind(taskId),
  ])
  await dispatcher.wake(accountId)
  await expect.poll(held).toEqual([allocation])
})

const planned = { jobId: "j", priority: 50, weight: 1, jobWeight: 1, blocked: false, createdAt: 0 }

/** Runs requests of a queue to pools that answer by this function. */
async function withRequests(
  answer: (pool: string, request: SlotRequest) => Allocations,
  work: (queue: TaskQueue, request: () => Promise<Record<string, SlotRequest>>) => Promise<void>,
  queued: QueuedTask[] = [],
): Promise<void> {
  const accountId = newId()
  let asked: Record<string, SlotRequest> = {}
  const pools = withPools(async (pool, request) => {
    asked[pool] = request
    return answer(pool, request)
  })
  await runInDurableObject(env.DISPATCHER.getByName(accountId), async (_, { storage }) => {
    const queue = new TaskQueue(storage.sql)
    queue.add(queued)
    const requests = new SlotRequests(pools, queue)
    await work(queue, async () => {
      asked = {}
      requests.forgetUnmet()
      await requests.request(accountId, () => undefined)
      return asked
    })
  })
}

it("after a restart a pool gets the allocations of tasks once, and then their ends", async () => {
  const made = toNewQueueEntry({ ...planned, id: "t", pool: "media" })
  const task = copyTaskAsStarting(made, { id: 7, slot: "media-0" }, Date.now())
  function answer(_: string, { inUse }: SlotRequest): Allocations {
    return inUse.map((id) => ({ id, slot: "media-0" }))
  }
  async function work(queue: TaskQueue, request: () => Promise<object>): Promise<void> {
    const first = { wanted: 0, inUse: [7], released: [], isResync: true }
    expect(await request()).toMatchObject({ media: first })
    expect(await request()).toEqual({})
    queue.remove("t")
    const last = { wanted: 0, inUse: [], released: [7], isResync: false }
    expect(await request()).toMatchObject({ media: last })
    expect(await request()).toEqual({})
  }
  await withRequests(answer, work, [task])
})

it("a pool gets requests for a ready task and while it may allocate for one, and no others", async () => {
  await withRequests(
    () => [],
    async (queue, request) => {
      expect(await request()).toEqual({})
      queue.add([toNewQueueEntry({ ...planned, id: "t", pool: "light" })])
      expect(await request()).toMatchObject({ light: { wanted: 1, isResync: true } })
      expect(await request()).toMatchObject({ light: { wanted: 1, isResync: false } })
      queue.remove("t")
      expect(await request()).toMatchObject({ light: { wanted: 0 } })
      expect(await request()).toEqual({})
    },
  )
})
