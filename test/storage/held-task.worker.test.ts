import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import {
  newTask,
  postingTask,
  runningTask,
  startingTask,
} from "../../src/pipeline/dispatch/queued-task.ts"
import { openTaskQueue } from "../../src/storage/task-queue.ts"

const message = { id: "t", jobId: "j", pool: "media", priority: 50, blocked: false }

it("a task that is posted is known to its object alone, and starts again where that is lost", async () => {
  await runInDurableObject(env.DISPATCHER.getByName(crypto.randomUUID()), (_, { storage }) => {
    const queue = openTaskQueue(storage.sql)
    const starting = startingTask(newTask(message), { id: 7, slot: "media-0" }, Date.now())
    queue.add(starting)
    queue.hold(postingTask(starting, 3))
    expect(queue.underWay()).toMatchObject([{ state: "posting", fence: 3, allocation: 7 }])
    const afterRestart = openTaskQueue(storage.sql)
    expect(afterRestart.find("t")).toMatchObject({ state: "starting", fence: null, allocation: 7 })
    queue.save(runningTask(postingTask(starting, 3), "boot", Date.now()))
    expect(queue.find("t")).toMatchObject({ state: "running", fence: 3, boot: "boot" })
    expect(afterRestart.find("t")).toMatchObject({ state: "running", fence: 3, boot: "boot" })
  })
})
