import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { asInvocation } from "../../scripts/local/d1-limits.ts"
import type { TaskOrder } from "../../src/contract/task.ts"
import type { Env } from "../../src/env.ts"
import { newId } from "../../src/ids.ts"
import { dispatchTask } from "../../src/pipeline/dispatch/dispatch-task.ts"
import { Pool } from "../../src/pipeline/dispatch/pool.ts"
import { newTask, startingTask } from "../../src/pipeline/dispatch/queued-task.ts"
import type { RunnerAnswer } from "../../src/rpc.ts"
import { databaseOf } from "../../src/storage/database.ts"
import { openTaskQueue } from "../../src/storage/task-queue.ts"
import type { QueuedTask, TaskQueue } from "../../src/storage/task-queue.ts"
import { createJob } from "../../src/storage/job-drafts.ts"
import { readSnapshot } from "../../src/storage/transitions.ts"
import { draftJob, draftTask } from "../../src/storage/job-drafts.ts"
import { jobFacts } from "../support/job-facts.ts"

/** What the objects of containers are asked, and what they answer; there are none in these tests. */
type Containers = {
  post?: (order: TaskOrder) => Promise<RunnerAnswer>
  end?: (slot: string, allocation: number) => Promise<boolean>
}

function withContainers({ post, end }: Containers): Env {
  function getByName(slot: string) {
    return { post, end: (allocation: number) => end?.(slot, allocation) }
  }
  const others = { RUNNER_ORIGIN: undefined, RUNNER_INSTANCES: "1" }
  const faked: object = { ...env, ...others, MEDIA_RUNNER: { getByName } }
  if (!isEnv(faked)) throw new Error("no environment")
  return faked
}

function isEnv(made: object): made is Env {
  return "MEDIA_RUNNER" in made && "DB" in made
}

describe("a task for a container", () => {
  const accountId = newId()
  const database = databaseOf(env, accountId)

  async function makeWaitingTask() {
    const id = newId()
    const facts = jobFacts(null)
    const work = { kind: "command" as const, commands: [["x"]], outputs: [], run_seconds_max: 1 }
    const task = draftTask(facts, { pool: "media", jobId: id, work, inputs: [], blocked: false })
    const request = { input_files: {}, output_files: {} }
    await createJob(database, {
      job: draftJob(facts, { id, kind: "command", request }),
      tasks: [task],
      files: [],
    })
    return { jobId: id, taskId: task.task.id }
  }

  /** Works with a dispatcher's queue in which the task has just got a slot. */
  function inQueue<Value>(
    { jobId, taskId }: { jobId: string; taskId: string },
    work: (queue: TaskQueue, task: QueuedTask) => Promise<Value>,
  ): Promise<Value> {
    const object = env.DISPATCHER.getByName(crypto.randomUUID())
    return runInDurableObject(object, (_, { storage }) => {
      const queue = openTaskQueue(storage.sql)
      const made = newTask({ id: taskId, jobId, pool: "media", priority: 50, blocked: false })
      const task = startingTask(made, { id: 7, slot: "media-0" }, Date.now())
      queue.add(task)
      return work(queue, task)
    })
  }

  it("is dispatched anew where the invocation before had no statements of D1 left", async () => {
    const made = await makeWaitingTask()
    const containers = withContainers({
      post: () => Promise.resolve({ status: 202, text: JSON.stringify({ boot: "a-boot" }) }),
    })
    await inQueue(made, async (queue, task) => {
      const spent = asInvocation(async () => {
        const statement = env.DB.prepare("select 1")
        for (let spentOf = 0; spentOf < 10; spentOf += 1) {
          await env.DB.batch(Array.from({ length: 100 }, () => statement))
        }
        return await dispatchTask(containers, queue, accountId, task)
      })
      await expect(spent).rejects.toThrow("statements of an invocation")
      expect(await dispatchTask(containers, queue, accountId, task)).toBe("running")
    })
  })

  it("is handed over again until there is a container, at one fence and at no cost", async () => {
    const { jobId, taskId } = await makeWaitingTask()
    const answers: (RunnerAnswer | Error)[] = [
      { status: 503, text: "There is no Container instance available at this time." },
      { status: 429, text: "you are requesting too many containers per second" },
      new Error("no answer in time"),
      { status: 202, text: JSON.stringify({ boot: "a-boot" }) },
    ]
    const fences: number[] = []
    const containers = withContainers({
      async post({ fence, allocation }) {
        fences.push(fence)
        expect(allocation).toBe(7)
        const answer = answers[fences.length - 1]
        if (!answer) throw new Error("it was asked too often")
        if (answer instanceof Error) throw answer
        return answer
      },
    })
    const outcome = await inQueue({ jobId, taskId }, async (queue, task) => {
      const outcome = await dispatchTask(containers, queue, accountId, task)
      return [outcome, queue.find(taskId)]
    })
    expect(outcome).toMatchObject(["running", { state: "running", boot: "a-boot" }])
    expect(fences).toEqual([1, 1, 1, 1])
    const read = await readSnapshot(database, jobId)
    expect(read?.tasks).toMatchObject([{ failures: 0, interruptions: 0, fence: 1 }])
  })
})

describe("a slot that is a container", () => {
  let ended: { slot: string; allocation: number }[]
  let answer: () => Promise<boolean>
  let number = 0

  beforeEach(() => {
    ended = []
    answer = () => Promise.resolve(true)
  })

  function inPool<Value>(
    work: (pool: Pool) => Promise<Value>,
    RUNNER_INSTANCES = "1",
  ): Promise<Value> {
    const object = env.POOL.getByName(crypto.randomUUID())
    const containers = withContainers({
      async end(slot, allocation) {
        ended.push({ slot, allocation })
        return await answer()
      },
    })
    return runInDurableObject(object, (_, ctx) =>
      work(new Pool(ctx, { ...containers, RUNNER_INSTANCES })),
    )
  }

  function request(pool: Pool, accountId: string, wanted: number, released: number[] = []) {
    number += 1
    return pool.requestSlots("media", { accountId, number, wanted, inUse: [], released })
  }

  it("is ended under the next allocation's number before another account gets it", async () => {
    const steps: string[] = []
    answer = async () => {
      steps.push("ending")
      await scheduler.wait(20)
      steps.push("ended")
      return true
    }
    const [first, second] = await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await request(pool, "a", 0, [mine?.id ?? 0])
      const [theirs] = (await request(pool, "b", 1)) ?? []
      steps.push("allocated")
      return [mine, theirs]
    })
    expect(steps).toEqual(["ending", "ended", "allocated"])
    expect(second?.slot).toBe(first?.slot)
    expect(ended).toHaveLength(1)
    expect(ended[0]?.allocation).toBeGreaterThan(first?.id ?? 0)
    expect(ended[0]?.allocation).toBeLessThanOrEqual(second?.id ?? 0)
  })

  it("stays warm for the account that had it last", async () => {
    await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await request(pool, "a", 1, [mine?.id ?? 0])
    })
    expect(ended).toEqual([])
  })

  it("is another account's only where none is left that it had itself", async () => {
    const slots = await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      const [theirs] = (await request(pool, "b", 1)) ?? []
      await request(pool, "a", 0, [mine?.id ?? 0])
      await request(pool, "b", 0, [theirs?.id ?? 0])
      const again = [await request(pool, "b", 1), await request(pool, "a", 1)]
      return again.flatMap((allocations) => allocations?.map(({ slot }) => slot))
    }, "2")
    expect(slots).toEqual(["media-1", "media-0"])
    expect(ended).toEqual([])
  })

  it.for([
    ["says that a later allocation has it", () => Promise.resolve(false)],
    ["cannot be reached", () => Promise.reject(new Error("gone"))],
  ] as const)("goes to nobody else where its object %s", async ([, refuse]) => {
    answer = refuse
    const given = await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await request(pool, "a", 0, [mine?.id ?? 0])
      return await request(pool, "b", 1)
    })
    expect(given).toEqual([])
    expect(ended).toHaveLength(1)
  })

  it("is ended before its account gets it again, where an end of it failed", async () => {
    answer = () => Promise.resolve(false)
    const [refused, reasons, given, after] = await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await request(pool, "a", 0, [mine?.id ?? 0])
      await request(pool, "b", 1)
      await request(pool, "b", 0)
      const again = await request(pool, "a", 1)
      const failing = await pool.degradedReasons()
      answer = () => Promise.resolve(true)
      return [again, failing, await request(pool, "a", 1), await pool.degradedReasons()]
    })
    expect(refused).toEqual([])
    expect(reasons).toEqual(["slot_not_ended"])
    expect(given).toHaveLength(1)
    expect(after).toEqual([])
    expect(ended).toHaveLength(3)
  })

  it("is ended before anybody gets it, where its runner fell silent", async () => {
    await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await pool.slotDistrusted({ slot: "media-0", allocation: mine?.id ?? 0 })
      await request(pool, "a", 1, [mine?.id ?? 0])
      const [next] = (await request(pool, "a", 1)) ?? []
      // What is said late of an earlier allocation is of no concern to a later one.
      await pool.slotDistrusted({ slot: "media-0", allocation: mine?.id ?? 0 })
      await request(pool, "a", 1, [next?.id ?? 0])
    })
    expect(ended).toHaveLength(1)
  })

  it("is tried again by the alarm, also where nobody wants it", async () => {
    answer = () => Promise.reject(new Error("gone"))
    await inPool(async (pool) => {
      const [mine] = (await request(pool, "a", 1)) ?? []
      await pool.slotDistrusted({ slot: "media-0", allocation: mine?.id ?? 0 })
      await request(pool, "a", 0, [mine?.id ?? 0])
      await pool.alarm()
      answer = () => Promise.resolve(true)
      await pool.alarm()
      await expect.poll(() => ended.length).toBe(2)
      await expect.poll(async () => await pool.degradedReasons()).toEqual([])
      await pool.alarm()
    })
    expect(ended).toHaveLength(2)
  })

  it("makes the health degraded while its containers have no sandbox", async () => {
    const [failing, after] = await inPool(async (pool) => {
      await pool.sandboxJudged({ slot: "media-0", hasSandbox: false })
      const failed = await pool.degradedReasons()
      await pool.sandboxJudged({ slot: "media-0", hasSandbox: true })
      return [failed, await pool.degradedReasons()]
    })
    expect(failing).toEqual(["sandbox_failed"])
    expect(after).toEqual([])
  })
})
