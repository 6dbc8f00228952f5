import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import type { TaskOrder } from "../../src/contract/task.ts"
import { MediaRunner } from "../../src/index.ts"
import type { TaskRun } from "../../src/bindings/rpc.ts"
import { countStorageRowsWritten, sumWrittenRows } from "../support/db/counted-rows.ts"
import {
  makeFakedContainer,
  setFakedContainer,
  makeProbeOrder,
  makeEnvWithSettings,
} from "../support/runner/faked-container.ts"
import type { FakedContainer } from "../support/runner/faked-container.ts"

/** Exceeds the idle time of one second in these tests. */
const IDLE_MS_MORE = 1500
const SIGTERM = 15
/**
 * Rows of a start: states, alarms, a token and a process, most of them written by the container
 * class.
 */
const START_ROWS_MAX = 9

describe("the object of a container", () => {
  let object: DurableObjectStub
  let container: FakedContainer

  beforeEach(() => {
    object = env.POOL.getByName(crypto.randomUUID())
    container = makeFakedContainer()
  })

  function withRunner<Value>(work: (runner: MediaRunner) => Promise<Value>): Promise<Value> {
    return runInDurableObject(object, async (_, ctx) => {
      setFakedContainer(ctx, container)
      return await work(new MediaRunner(ctx, makeEnvWithSettings({ CONTAINER_IDLE_SECONDS: "1" })))
    })
  }

  function runOf({ task_id: taskId, job_id: jobId, fence }: TaskOrder): TaskRun {
    return { accountId: "a", taskId, jobId, fence }
  }

  it("holds no lease for a task that it refused for lack of a sandbox", async () => {
    const order = await makeProbeOrder()
    container.hasSandbox = false
    await withRunner(async (runner) => {
      await runner.post(order)
      await runner.onActivityExpired()
    })
    expect(container.signals).toEqual([SIGTERM])
  })

  it("stops it after its idle time, and not during a run", async () => {
    const order = await makeProbeOrder()
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

  it("stops it after its run was killed, but not if it got the next one", async () => {
    const [order, next] = [await makeProbeOrder(), await makeProbeOrder()]
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

  it("writes two rows for a task if its container already runs, and few for its start", async () => {
    const [first, second] = [await makeProbeOrder(), await makeProbeOrder()]
    await withRunner(async (runner) => {
      const started = await countStorageRowsWritten(() => runner.post(first))
      expect(sumWrittenRows(started)).toBeLessThanOrEqual(START_ROWS_MAX)
      runner.runEnded(runOf(first))
      const warm = await countStorageRowsWritten(async () => {
        const order = { ...second, allocation: first.allocation + 1 }
        await runner.post(order)
        // Repeats the post.
        await runner.post(order)
        runner.runEnded(runOf(second))
      })
      expect([...warm]).toEqual([
        ["put grant", 1],
        ["put handed", 1],
      ])
    })
  })

  it("refuses calls under a lower allocation than the last, also after a restart", async () => {
    const [order, late] = [await makeProbeOrder(), await makeProbeOrder()]
    await withRunner((runner) => runner.post(order))
    const lower = { ...late, allocation: order.allocation - 1 }
    const refused = await withRunner(async (runner) => [
      await runner.post(lower),
      await runner.end(lower.allocation),
    ])
    expect(refused).toMatchObject([{ status: 409 }, false])
  })
})
