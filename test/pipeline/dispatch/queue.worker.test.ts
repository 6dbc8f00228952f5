import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { HEARTBEAT_MS } from "../../../src/contract/protocol.ts"
import { TaskQueue } from "../../../src/pipeline/dispatch/queue.ts"
import {
  newTask,
  postingTask,
  runningTask,
  startingTask,
} from "../../../src/pipeline/dispatch/queued-task.ts"
import type { QueuedTask } from "../../../src/pipeline/dispatch/queued-task.ts"
import { countRows, sumOf } from "../../support/counted-rows.ts"
import { allQueued } from "../../support/queued-tasks.ts"

const MINUTE_MS = 60_000
/** The row of a task, and those of indices that tell its state. */
const INDEXED_ROWS_MAX = 3

const planned = { id: "t", jobId: "j", pool: "media", priority: 50, weight: 1, jobWeight: 1 }
const message = { ...planned, blocked: false, createdAt: 0 }

it("a task that is posted is known to its object alone, and starts again where that is lost", async () => {
  await runInDurableObject(env.DISPATCHER.getByName(crypto.randomUUID()), (_, { storage }) => {
    const queue = new TaskQueue(storage.sql)
    const starting = startingTask(newTask(message), { id: 7, slot: "media-0" }, Date.now())
    queue.add([starting])
    queue.hold(postingTask(starting, 3))
    expect(queue.underWay()).toMatchObject([{ state: "posting", fence: 3, allocation: 7 }])
    const afterRestart = new TaskQueue(storage.sql)
    expect(afterRestart.find("t")).toMatchObject({ state: "starting", fence: null, allocation: 7 })
    queue.save(runningTask(postingTask(starting, 3), "boot", Date.now()))
    expect(queue.find("t")).toMatchObject({ state: "running", fence: 3, boot: "boot" })
    expect(afterRestart.find("t")).toMatchObject({ state: "running", fence: 3, boot: "boot" })
  })
})

/** A queue with a task that a runner took, and the same queue as it is after a restart. */
async function withTakenTask(
  work: (queue: TaskQueue, afterRestart: TaskQueue, taken: QueuedTask) => void,
): Promise<void> {
  await runInDurableObject(env.DISPATCHER.getByName(crypto.randomUUID()), (_, { storage }) => {
    const queue = new TaskQueue(storage.sql)
    const starting = startingTask(newTask(message), { id: 7, slot: "media-0" }, Date.now())
    queue.add([starting])
    const taken = runningTask(postingTask(starting, 3), "boot", Date.now())
    queue.hold(taken)
    work(queue, new TaskQueue(storage.sql), taken)
  })
}

it("a run is saved once it has lasted for seconds, and its lease every few seconds from then on", async () => {
  await withTakenTask((queue, afterRestart, first) => {
    expect(queue.find("t")).toEqual(first)
    queue.renew(first)
    expect(afterRestart.find("t")).toMatchObject({ state: "starting", boot: null })
    const taken = { ...first, leaseUntil: first.leaseUntil + HEARTBEAT_MS }
    queue.renew(taken)
    expect(afterRestart.find("t")).toEqual(taken)
    const soon = { ...taken, leaseUntil: taken.leaseUntil + 1 }
    queue.renew(soon)
    expect(queue.find("t")).toEqual(soon)
    expect(afterRestart.find("t")).toEqual(taken)
    for (const byMs of [HEARTBEAT_MS, -MINUTE_MS]) {
      const renewed = { ...taken, leaseUntil: taken.leaseUntil + byMs }
      queue.renew(renewed)
      expect(afterRestart.find("t")).toEqual(renewed)
    }
    const anew = { ...taken, boot: "another" }
    queue.renew(anew)
    expect(afterRestart.find("t")).toEqual(anew)
  })
})

it("the row of a short run stays until another task is added or it is flushed", async () => {
  await withTakenTask((queue, afterRestart) => {
    queue.remove("t")
    expect([queue.find("t"), allQueued(queue), queue.ofJob("j"), queue.underWay()]).toEqual([
      null,
      [],
      [],
      [],
    ])
    expect(afterRestart.find("t")).toMatchObject({ state: "starting" })
    queue.add([newTask({ ...message, id: "u" })])
    expect(allQueued(afterRestart)).toMatchObject([{ id: "u" }])
  })
  await withTakenTask((queue, afterRestart) => {
    queue.remove("t")
    queue.flush()
    expect([allQueued(afterRestart), queue.isEmpty()]).toEqual([[], true])
  })
})

it("a task that left is queued again as it is then", async () => {
  await withTakenTask((queue) => {
    queue.remove("t")
    queue.add([newTask(message)])
    expect(queue.find("t")).toMatchObject({ state: "ready", fence: null, slot: null })
  })
})

it("writes a lease every ten seconds, one row each, whatever is reported", async () => {
  const object = env.DISPATCHER.getByName(crypto.randomUUID())
  const written = await runInDurableObject(object, async (_, { storage }) => {
    const queue = new TaskQueue(storage.sql)
    const starting = startingTask(newTask(message), { id: 7, slot: "media-0" }, Date.now())
    queue.add([starting])
    const first = runningTask(postingTask(starting, 3), "boot", Date.now())
    queue.hold(first)
    const rows: number[] = []
    for (let second = 1; second <= 35; second += 1) {
      const leaseUntil = first.leaseUntil + second * 1000
      rows.push(sumOf(await countRows(async () => queue.renew({ ...first, leaseUntil }))))
    }
    return rows.flatMap((count, index) => (count === 0 ? [] : [[index + 1, count]]))
  })
  const firstOfRun = expect.toSatisfy((rows: number) => rows <= INDEXED_ROWS_MAX)
  expect(written).toEqual([
    [10, firstOfRun],
    [20, 1],
    [30, 1],
  ])
})
