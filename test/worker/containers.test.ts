import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import type { TaskOrder } from "../../src/contract/task.ts"
import type { Env } from "../../src/env.ts"
import { newId } from "../../src/ids.ts"
import { dispatchTask } from "../../src/pipeline/dispatch.ts"
import { Pool } from "../../src/pipeline/pool.ts"
import type { RunnerAnswer } from "../../src/runner/container.ts"
import { openDatabase } from "../../src/storage/database.ts"
import { makeHeldTask, openHeldTasks } from "../../src/storage/held-tasks.ts"
import { createJob, readSnapshot } from "../../src/storage/jobs.ts"
import { makeJob, makeTask } from "../../src/storage/rows.ts"

/** What the objects of containers are asked, and what they answer; there are none in these tests. */
type Containers = {
  post?: (order: TaskOrder) => Promise<RunnerAnswer>
  end?: (slot: string, grant: number) => Promise<boolean>
}

function withContainers({ post, end }: Containers): Env {
  function getByName(slot: string) {
    return { post, end: (grant: number) => end?.(slot, grant) }
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
  const database = openDatabase(env.DB)

  async function makeWaitingTask() {
    const id = newId()
    const facts = {
      accountId: newId(),
      origin: "https://lathe.test",
      now: Date.now(),
      priority: 50,
      metadata: null,
      webhookUrl: null,
    }
    const work = { kind: "command" as const, commands: [["x"]], outputs: [], run_seconds_max: 1 }
    const task = makeTask(facts, { jobId: id, work, inputs: [], blocked: false })
    const request = { input_files: {}, output_files: {} }
    await createJob(database, {
      job: makeJob(facts, { id, kind: "command", request }),
      tasks: [task],
      files: [],
    })
    return { jobId: id, taskId: task.task.id }
  }

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
      async post({ fence, grant }) {
        fences.push(fence)
        expect(grant).toBe(7)
        const answer = answers[fences.length - 1]
        if (!answer) throw new Error("it was asked too often")
        if (answer instanceof Error) throw answer
        return answer
      },
    })
    const object = env.DISPATCHER.getByName(crypto.randomUUID())
    const outcome = await runInDurableObject(object, async (_, { storage }) => {
      const held = openHeldTasks(storage.sql)
      held.add(makeHeldTask({ id: taskId, jobId, priority: 50, step: "waiting" }, 0))
      const task = held.find(taskId)
      if (task) held.save({ ...task, step: "starting", slot: "media-0", grant: 7 })
      return [await dispatchTask(containers, held, taskId, 7), held.find(taskId)]
    })
    expect(outcome).toMatchObject(["running", { step: "running", boot: "a-boot" }])
    expect(fences).toEqual([1, 1, 1, 1])
    const read = await readSnapshot(database, jobId)
    expect(read?.tasks).toMatchObject([{ failures: 0, interruptions: 0, fence: 1 }])
  })
})

describe("a slot that is a container", () => {
  let ended: { slot: string; grant: number }[]
  let answer: () => Promise<boolean>
  let number = 0

  beforeEach(() => {
    ended = []
    answer = () => Promise.resolve(true)
  })

  function inPool<Value>(work: (pool: Pool) => Promise<Value>): Promise<Value> {
    const object = env.POOL.getByName(crypto.randomUUID())
    const containers = withContainers({
      async end(slot, grant) {
        ended.push({ slot, grant })
        return await answer()
      },
    })
    return runInDurableObject(object, (_, ctx) => work(new Pool(ctx, containers)))
  }

  function ask(pool: Pool, accountId: string, want: number, done: number[] = []) {
    number += 1
    return pool.ask({ accountId, ask: number, want, using: [], done })
  }

  it("is ended under the next grant's number before another account gets it", async () => {
    const granted: unknown[] = []
    answer = async () => {
      granted.push("ending")
      await scheduler.wait(20)
      granted.push("ended")
      return true
    }
    const [first, second] = await inPool(async (pool) => {
      const [mine] = (await ask(pool, "a", 1)) ?? []
      await ask(pool, "a", 0, [mine?.id ?? 0])
      const [theirs] = (await ask(pool, "b", 1)) ?? []
      granted.push("granted")
      return [mine, theirs]
    })
    expect(granted).toEqual(["ending", "ended", "granted"])
    expect(second?.slot).toBe(first?.slot)
    expect(ended).toHaveLength(1)
    expect(ended[0]?.grant).toBeGreaterThan(first?.id ?? 0)
    expect(ended[0]?.grant).toBeLessThanOrEqual(second?.id ?? 0)
  })

  it("stays warm for the account that had it last", async () => {
    await inPool(async (pool) => {
      const [mine] = (await ask(pool, "a", 1)) ?? []
      await ask(pool, "a", 1, [mine?.id ?? 0])
    })
    expect(ended).toEqual([])
  })

  it.for([
    ["says that a later grant has it", () => Promise.resolve(false)],
    ["cannot be reached", () => Promise.reject(new Error("gone"))],
  ] as const)("goes to nobody else where its object %s", async ([, refuse]) => {
    answer = refuse
    const given = await inPool(async (pool) => {
      const [mine] = (await ask(pool, "a", 1)) ?? []
      await ask(pool, "a", 0, [mine?.id ?? 0])
      return await ask(pool, "b", 1)
    })
    expect(given).toEqual([])
    expect(ended).toHaveLength(1)
  })
})
