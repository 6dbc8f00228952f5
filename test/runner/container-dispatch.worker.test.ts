import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { runAsInvocation } from "../../scripts/start/worker/d1-limits.ts"
import { newId } from "../../src/platform/ids.ts"
import { dispatchTask } from "../../src/scheduler/dispatch-task.ts"
import { toNewQueueEntry, copyTaskAsStarting } from "../../src/scheduler/queued-task.ts"
import type { RunnerAnswer } from "../../src/bindings/rpc.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { createJob } from "../support/db/create-job.ts"
import { draftJobRow, draftTask } from "../../src/domain/job-draft.ts"
import { TaskQueue } from "../../src/scheduler/queue.ts"
import type { QueuedTask } from "../../src/scheduler/queued-task.ts"
import { readJobSnapshot } from "../../src/db/jobs/apply-transition.ts"
import { makeContainerEnv } from "../support/runner/containers.ts"
import { makeJobProperties } from "../support/job-facts.ts"

const notes = { keepClaim: () => undefined }

describe("a task for a container", () => {
  const accountId = newId()
  const database = openAccountDatabases(env, accountId)

  async function makeWaitingTask() {
    const id = newId()
    const facts = makeJobProperties(null)
    const work = { kind: "command" as const, commands: [["x"]], outputs: [], run_seconds_max: 1 }
    const task = draftTask(facts, { pool: "media", jobId: id, work, inputs: [], blocked: false })
    const request = { input_files: {}, output_files: {} }
    await createJob(database, {
      job: draftJobRow(facts, { id, kind: "command", request }),
      tasks: [task],
      files: [],
    })
    return { jobId: id, taskId: task.task.id }
  }

  /** Runs `work` on a dispatcher's queue in which the task has just got a slot. */
  function inQueue<Value>(
    { jobId, taskId }: { jobId: string; taskId: string },
    work: (queue: TaskQueue, task: QueuedTask) => Promise<Value>,
  ): Promise<Value> {
    const object = env.DISPATCHER.getByName(crypto.randomUUID())
    return runInDurableObject(object, (_, { storage }) => {
      const queue = new TaskQueue(storage.sql)
      const planned = { id: taskId, jobId, pool: "media", priority: 50, weight: 1, jobWeight: 1 }
      const made = toNewQueueEntry({ ...planned, blocked: false, createdAt: Date.now() })
      const task = copyTaskAsStarting(made, { id: 7, slot: "media-0" }, Date.now())
      queue.add([task])
      return work(queue, task)
    })
  }

  it("is dispatched again after an invocation that had used up its D1 statements", async () => {
    const made = await makeWaitingTask()
    const containers = makeContainerEnv({
      post: () => Promise.resolve({ status: 202, text: JSON.stringify({ boot: "a-boot" }) }),
    })
    await inQueue(made, async (queue, task) => {
      const spent = runAsInvocation(async () => {
        const statement = env.DB.prepare("select 1")
        for (let spentOf = 0; spentOf < 10; spentOf += 1) {
          await env.DB.batch(Array.from({ length: 100 }, () => statement))
        }
        return await dispatchTask(containers, { queue, notes }, accountId, task)
      })
      await expect(spent).rejects.toThrow("statements of an invocation")
      expect(await dispatchTask(containers, { queue, notes }, accountId, task)).toBe("running")
    })
  })

  it("is posted again until there is a container, at one fence and at no cost", async () => {
    const { jobId, taskId } = await makeWaitingTask()
    const answers: (RunnerAnswer | Error)[] = [
      { status: 503, text: "There is no Container instance available at this time." },
      { status: 429, text: "you are requesting too many containers per second" },
      { status: 503, text: "Maximum number of running container instances exceeded." },
      new Error("no answer in time"),
      { status: 202, text: JSON.stringify({ boot: "a-boot" }) },
    ]
    const fences: number[] = []
    const containers = makeContainerEnv({
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
      const outcome = await dispatchTask(containers, { queue, notes }, accountId, task)
      return [outcome, queue.find(taskId)]
    })
    expect(outcome).toMatchObject(["running", { state: "running", boot: "a-boot" }])
    expect(fences).toEqual([1, 1, 1, 1, 1])
    const read = await readJobSnapshot(database, jobId)
    expect(read?.tasks).toMatchObject([{ failures: 0, interruptions: 0, fence: 1 }])
  })
})
