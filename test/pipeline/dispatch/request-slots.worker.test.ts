import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import type { Env } from "../../../src/env.ts"
import { newId } from "../../../src/ids.ts"
import { Dispatcher } from "../../../src/pipeline/dispatch/dispatcher.ts"
import type { SlotRequest } from "../../../src/rpc.ts"
import { databaseOf } from "../../../src/storage/database.ts"
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
