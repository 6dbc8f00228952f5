import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import type { Env } from "../../../src/env.ts"
import { newId } from "../../../src/ids.ts"
import { Dispatcher } from "../../../src/pipeline/dispatch/dispatcher.ts"
import type { SlotRequest } from "../../../src/rpc.ts"
import { databaseOf } from "../../../src/storage/database.ts"
import { openSlotTables } from "../../../src/storage/slot-allocations.ts"
import { claimTask } from "../../../src/storage/tasks.ts"
import { readSnapshot } from "../../../src/storage/transitions.ts"
import { makeQueuedJob } from "../../support/queued-job.ts"

/** Pools that give what is wanted, all but those named, which never answer. */
function withPools(silent: string[]): Env {
  let id = 0
  function getByName(pool: string) {
    async function requestSlots(_: string, { wanted }: SlotRequest) {
      if (silent.includes(pool)) return await new Promise<never>(() => undefined)
      return Array.from({ length: wanted }, () => ({ id: (id += 1), slot: `${pool}-${id}` }))
    }
    return { requestSlots }
  }
  const faked: object = { ...env, POOL: { getByName } }
  if (!isEnv(faked)) throw new Error("no environment")
  return faked
}

function isEnv(made: object): made is Env {
  return "POOL" in made && "DB" in made
}

it("a pool that does not answer holds up no task of another, nor those that come later", async () => {
  const accountId = newId()
  const jobs = [
    await makeQueuedJob(accountId),
    await makeQueuedJob(accountId),
    await makeQueuedJob(accountId),
  ]
  const [slow, first, later] = jobs.map(({ message }) => ({ ...message, blocked: false }))
  if (!slow || !first || !later) throw new Error("no jobs")
  async function fences(): Promise<(number | undefined)[]> {
    const database = databaseOf(env, accountId)
    const read = jobs.map(async ({ jobId }) => await readSnapshot(database, jobId))
    return (await Promise.all(read)).map((snapshot) => snapshot?.tasks[0]?.fence)
  }
  await env.DB.prepare(
    "insert into accounts (id, name, plan, webhook_secret, created_at) values (?, ?, 'paid', '', 0)",
  )
    .bind(accountId, accountId)
    .run()
  await runInDurableObject(env.DISPATCHER.getByName(accountId), async (_, ctx) => {
    const dispatcher = new Dispatcher(ctx, withPools(["media"]))
    await dispatcher.accept(accountId, [slow, { ...first, pool: "light" }])
    await expect.poll(fences, { timeout: 3000 }).toEqual([0, 1, 0])
    await dispatcher.accept(accountId, [{ ...later, pool: "light" }])
    await expect.poll(fences, { timeout: 3000 }).toEqual([0, 1, 1])
    // Neither do leases wait for it, nor what other objects tell the dispatcher.
    await dispatcher.alarm()
    await dispatcher.tasksEnded(accountId, [])
    await ctx.storage.deleteAlarm()
  })
})

it("a slot that a dispatcher held before it lost its storage is released, unless its run goes on", async () => {
  const accountId = newId()
  const [pool, dispatcher] = [env.POOL.getByName("light"), env.DISPATCHER.getByName(accountId)]
  async function ask(number: number, wanted: number) {
    const request = { accountId, number, wanted, inUse: [], released: [] }
    return (await pool.requestSlots("light", request)) ?? []
  }
  async function held(): Promise<number[]> {
    return await runInDurableObject(pool, (_, { storage: { sql } }) =>
      openSlotTables(sql)
        .of(accountId)
        .map(({ id }) => id),
    )
  }
  const [running] = await ask(1, 2)
  if (!running) throw new Error("no slot")
  const { jobId, taskId } = await makeQueuedJob(accountId)
  const { id: allocation, slot } = running
  await claimTask(databaseOf(env, accountId), { taskId, jobId, slot, allocation, now: Date.now() })
  await env.DB.batch([
    env.DB.prepare("update jobs set state = 'running' where id = ?").bind(jobId),
    env.DB.prepare("update tasks set pool = 'light' where id = ?").bind(taskId),
  ])
  await dispatcher.wake(accountId)
  await expect.poll(held, { timeout: 3000 }).toEqual([allocation])
})
