import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import type { TaskOrder } from "../../src/contract/task.ts"
import { MediaRunner } from "../../src/index.ts"
import type { TaskRun } from "../../src/rpc.ts"
import { countRows, sumOf } from "../support/counted-rows.ts"
import {
  freshContainer,
  giveContainer,
  makeOrder,
  withSettings,
} from "../support/faked-container.ts"
import type { FakedContainer } from "../support/faked-container.ts"

/** More than the second that a container of these tests may be idle. */
const IDLE_MS_MORE = 1500
const SIGTERM = 15
/** States, alarms, a token and a process, most of them by the class of containers. */
const START_ROWS_MAX = 9

describe("the object of a container", () => {
  let object: DurableObjectStub
  let container: FakedContainer

  beforeEach(() => {
    object = env.POOL.getByName(crypto.randomUUID())
    container = freshContainer()
  })

  function withRunner<Value>(work: (runner: MediaRunner) => Promise<Value>): Promise<Value> {
    return runInDurableObject(object, async (_, ctx) => {
      giveContainer(ctx, container)
      return await work(new MediaRunner(ctx, withSettings({ CONTAINER_IDLE_SECONDS: "1" })))
    })
  }

  function runOf({ task_id: taskId, job_id: jobId, fence }: TaskOrder): TaskRun {
    return { accountId: "a", taskId, jobId, fence }
  }

  it("holds no lease for a task that it refused for want of a sandbox", async () => {
    const order = await makeOrder()
    container.hasSandbox = false
    await withRunner(async (runner) => {
      await runner.post(order)
      await runner.onActivityExpired()
    })
    expect(container.signals).toEqual([SIGTERM])
  })

  it("stops it once it was idle for its seconds, and not while it has a run", async () => {
    const order = await makeOrder()
    await withRunner(async (runner) => {
      await runner.post(order)
      await scheduler.wait(IDLE_MS_MORE)
      expect(container.signals).toEqual([])
      runner.runEnded({ ...runOf(order), taskId: "another" })
      await scheduler.wait(IDLE_MS_MORE)
      expect(container.signals).toEqual([])
      runner.runEnded(runOf(order))
      await expect.poll(() => container.signals).toEqual([SIGTERM])
    })
  })

  it("stops it once its run was killed, but not where it got the next one", async () => {
    const [order, next] = [await makeOrder(), await makeOrder()]
    container.killStatus = 200
    await withRunner(async (runner) => {
      await runner.post(order)
      await runner.kill(order.task_id, order.fence)
      await runner.post(next)
      await scheduler.wait(IDLE_MS_MORE)
      expect(container.signals).toEqual([])
      await runner.kill(next.task_id, next.fence)
      await expect.poll(() => container.signals).toEqual([SIGTERM])
    })
  })

  it("writes two rows for a task where its container runs already, and few for its start", async () => {
    const [first, second] = [await makeOrder(), await makeOrder()]
    await withRunner(async (runner) => {
      const started = await countRows(() => runner.post(first))
      expect(sumOf(started)).toBeLessThanOrEqual(START_ROWS_MAX)
      runner.runEnded(runOf(first))
      const warm = await countRows(async () => {
        const order = { ...second, allocation: first.allocation + 1 }
        await runner.post(order)
        // A post that is made again.
        await runner.post(order)
        runner.runEnded(runOf(second))
      })
      expect([...warm]).toEqual([
        ["put grant", 1],
        ["put handed", 1],
      ])
    })
  })

  it("refuses what comes under a lower allocation than it was handed last, also after a restart", async () => {
    const [order, late] = [await makeOrder(), await makeOrder()]
    await withRunner((runner) => runner.post(order))
    const lower = { ...late, allocation: order.allocation - 1 }
    const refused = await withRunner(async (runner) => [
      await runner.post(lower),
      await runner.end(lower.allocation),
    ])
    expect(refused).toMatchObject([{ status: 409 }, false])
  })
})
