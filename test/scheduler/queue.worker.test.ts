import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { HEARTBEAT_INTERVAL_MS } from "../../src/contract/protocol.ts"
import { TaskQueue } from "../../src/scheduler/queue.ts"
import {
  toNewQueueEntry,
  copyTaskAsPosting,
  copyTaskAsRunning,
  copyTaskAsStarting,
} from "../../src/scheduler/queued-task.ts"
import type { QueuedTask } from "../../src/scheduler/queued-task.ts"
import { countStorageRowsWritten, sumWrittenRows } from "../support/db/counted-rows.ts"
import { listQueuedTasks } from "../support/db/queued-tasks.ts"

const MINUTE_MS = 60_000
/** Rows of a task: its own, and those of indexes that contain its state. */
const INDEXED_ROWS_MAX = 3

const planned = { id: "t", jobId: "j", pool: "media", priority: 50, weight: 1, jobWeight: 1 }
const message = { ...planned, blocked: false, createdAt: 0 }

it("a posted task is in memory only, and starts again after a restart", async () => {
  await runInDurableObject(env.DISPATCHER.getByName(crypto.randomUUID()), (_, { storage }) => {
    const queue = new TaskQueue(storage.sql)
    const starting = copyTaskAsStarting(
      toNewQueueEntry(message),
      { id: 7, slot: "media-0" },
      Date.now(),
    )
    queue.add([starting])
    queue.hold(copyTaskAsPosting(starting, 3))
    expect(queue.underWay()).toMatchObject([{ state: "posting", fence: 3, allocation: 7 }])
    const afterRestart = new TaskQueue(storage.sql)
    expect(afterRestart.find("t")).toMatchObject({ state: "starting", fence: null, allocation: 7 })
    queue.save(copyTaskAsRunning(copyTaskAsPosting(starting, 3), "boot", Date.now()))
    expect(queue.find("t")).toMatchObject({ state: "running", fence: 3, boot: "boot" })
    expect(afterRestart.find("t")).toMatchObject({ state: "running", fence: 3, boot: "boot" })
  })
})

/** Runs `work` on a queue with a running task, and on the same queue after a restart. */
async function withTakenTask(
  work: (queue: TaskQueue, afterRestart: TaskQueue, taken: QueuedTask) => void,
): Promise<void> {
  await runInDurableObject(env.DISPATCHER.getByName(crypto.randomUUID()), (_, { storage }) => {
    const queue = new TaskQueue(storage.sql)
    const starting = copyTaskAsStarting(
      toNewQueueEntry(message),
      { id: 7, slot: "media-0" },
      Date.now(),
    )
    queue.add([starting])
    const taken = copyTaskAsRunning(copyTaskAsPosting(starting, 3), "boot", Date.now())
    queue.hold(taken)
    work(queue, new TaskQueue(storage.sql), taken)
  })
}

it("a run is saved after some seconds, and its lease every few seconds from then on", async () => {
  await withTakenTask((queue, afterRestart, first) => {
    expect(queue.find("t")).toEqual(first)
    queue.renew(first)
    expect(afterRestart.find("t")).toMatchObject({ state: "starting", boot: null })
    const taken = { ...first, leaseUntil: first.leaseUntil + HEARTBEAT_INTERVAL_MS }
    queue.renew(taken)
    expect(afterRestart.find("t")).toEqual(taken)
    const soon = { ...taken, leaseUntil: taken.leaseUntil + 1 }
    queue.renew(soon)
    expect(queue.find("t")).toEqual(soon)
    expect(afterRestart.find("t")).toEqual(taken)
    for (const byMs of [HEARTBEAT_INTERVAL_MS, -MINUTE_MS]) {
      const renewed = { ...taken, leaseUntil: taken.leaseUntil + byMs }
      queue.renew(renewed)
      expect(afterRestart.find("t")).toEqual(renewed)
    }
    const anew = { ...taken, boot: "another" }
    queue.renew(anew)
    expect(afterRestart.find("t")).toEqual(anew)
  })
})

it("the row of a short run stays until another task is added or the queue is flushed", async () => {
  await withTakenTask((queue, afterRestart) => {
    queue.remove("t")
    expect([queue.find("t"), listQueuedTasks(queue), queue.ofJob("j"), queue.underWay()]).toEqual([
      null,
      [],
      [],
      [],
    ])
    expect(afterRestart.find("t")).toMatchObject({ state: "starting" })
    queue.add([toNewQueueEntry({ ...message, id: "u" })])
    expect(listQueuedTasks(afterRestart)).toMatchObject([{ id: "u" }])
  })
  await withTakenTask((queue, afterRestart) => {
    queue.remove("t")
    queue.flush()
    expect([listQueuedTasks(afterRestart), queue.isEmpty()]).toEqual([[], true])
  })
})

it("a task that left can be queued again with new fields", async () => {
  await withTakenTask((queue) => {
    queue.remove("t")
    queue.add([toNewQueueEntry(message)])
    expect(queue.find("t")).toMatchObject({ state: "ready", fence: null, slot: null })
  })
})

it("writes a lease every ten seconds, one row each, at any rate of reports", async () => {
  const object = env.DISPATCHER.getByName(crypto.randomUUID())
  const written = await runInDurableObject(object, async (_, { storage }) => {
    const queue = new TaskQueue(storage.sql)
    const starting = copyTaskAsStarting(
      toNewQueueEntry(message),
      { id: 7, slot: "media-0" },
      Date.now(),
    )
    queue.add([starting])
    const first = copyTaskAsRunning(copyTaskAsPosting(starting, 3), "boot", Date.now())
    queue.hold(first)
    const rows: number[] = []
    for (let second = 1; second <= 35; second += 1) {
      const leaseUntil = first.leaseUntil + second * 1000
      rows.push(
        sumWrittenRows(
          await countStorageRowsWritten(async () => queue.renew({ ...first, leaseUntil })),
        ),
      )
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
