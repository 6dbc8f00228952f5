import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import type { Env } from "../../../src/bindings/env.ts"
import type { DispatcherRpc } from "../../../src/bindings/rpc.ts"
import { newId } from "../../../src/platform/ids.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { createBatchOfCopies, endCopy } from "../../support/chains.ts"
import { listStoredTasks } from "../../support/db/queued-tasks.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { readJob } from "../../support/runner/stand-in-runner.ts"
import { sweepDirectly } from "../../support/sweep.ts"

const LATE_MS = 300
const HOOK = "https://receiver.example/batch"
/** Jobs of a batch by name, with the jobs that each needs: a chain whose end is a diamond. */
const DIAMOND = {
  film: [],
  level: ["film"],
  left: ["level"],
  right: ["level"],
  join: ["left", "right"],
}

type Call = () => Promise<unknown>
/** Fault of the calls and messages with which the end of a job is passed on. */
type Fault = (call: Call) => Promise<unknown>

const FAULTS: Record<string, Fault> = {
  lost: async () => undefined,
  doubled: async (call) => [await call(), await call()],
  late: async (call) => {
    setTimeout(() => void call().catch(() => undefined), LATE_MS)
  },
  "lost with the dispatcher's object": async () => await abortAllDurableObjects(),
}

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`lost calls ${newId()}`)
  accountId = await findCallerAccountId(caller)
})

/** Returns an environment whose calls of dispatchers and whose queue messages have a fault. */
function makeFaultyEnv(fault: Fault): Env {
  function getByName(name: string): Pick<DispatcherRpc, "tasksEnded" | "claimedJob"> {
    const dispatcher = env.DISPATCHER.getByName(name)
    return {
      claimedJob: async (id) => await dispatcher.claimedJob(id),
      async tasksEnded(...given) {
        await fault(async () => await dispatcher.tasksEnded(...given))
      },
    }
  }
  const WEBHOOKS = {
    send: async (...given: Parameters<typeof env.WEBHOOKS.send>) => {
      return await fault(async () => await env.WEBHOOKS.send(...given))
    },
  }
  const faulty: object = { ...env, DISPATCHER: { getByName }, WEBHOOKS }
  if (!isEnv(faulty)) throw new Error("no environment")
  return faulty
}

function isEnv(made: object): made is Env {
  return "DISPATCHER" in made && "WEBHOOKS" in made
}

/** Returns the queue of the dispatcher after a tick, as a sweep makes it. */
async function readQueueAfterTick() {
  await env.DISPATCHER.getByName(accountId).tick(accountId)
  return await runInDurableObject(env.DISPATCHER.getByName(accountId), (_, { storage }) => {
    return listStoredTasks(storage)
  })
}

/** Waits until the dispatcher may start a job. */
async function awaitReady(jobId: string): Promise<void> {
  await expect
    .poll(async () => {
      const queued = (await readQueueAfterTick()).find((task) => task.jobId === jobId)
      return queued?.state ?? "blocked"
    })
    .not.toBe("blocked")
}

async function awaitEmptyQueue(): Promise<void> {
  await expect.poll(readQueueAfterTick).toEqual([])
}

async function readBatch(id: string) {
  const counts = env.DB.prepare("select open_jobs, failed_jobs from batches where id = ?")
  const told = env.DB.prepare("select type, tries from deliveries where job_id = ?")
  return {
    counts: await counts.bind(id).first(),
    told: (await told.bind(id).all()).results,
  }
}

describe.each(Object.entries(FAULTS))(
  "calls and messages at each end of a job that are %s",
  (_, fault) => {
    it("lose, double and stop no job of a batch, and its webhook is sent once", async () => {
      const faulty = makeFaultyEnv(fault)
      const { id, jobs } = await createBatchOfCopies(caller, DIAMOND, { webhook: HOOK })
      for (const jobId of Object.values(jobs)) {
        await awaitReady(jobId)
        expect((await readJob(accountId, jobId)).job.waitingFor ?? []).toEqual([])
        await endCopy(accountId, jobId, faulty)
      }
      for (const jobId of Object.values(jobs)) {
        expect((await readJob(accountId, jobId)).job.state).toBe("succeeded")
      }
      await expect
        .poll(async () => {
          await sweepDirectly(env, Date.now())
          return await readBatch(id)
        })
        .toEqual({
          counts: { open_jobs: 0, failed_jobs: 0 },
          told: [{ type: "batch.succeeded", tries: 1 }],
        })
      await awaitEmptyQueue()
    })
  },
)

describe("the tasks of a batch that reach their dispatcher", () => {
  it.each(["never", "twice"])("%s, all run in their order", async (times) => {
    const { jobs } = await createBatchOfCopies(caller, DIAMOND)
    const dispatcher = env.DISPATCHER.getByName(accountId)
    await dispatcher.accept(accountId, [])
    if (times === "never") {
      await runInDurableObject(dispatcher, (_, { storage }) => {
        storage.sql.exec("delete from queued_tasks")
      })
      await abortAllDurableObjects()
    }
    for (const jobId of Object.values(jobs)) {
      await awaitReady(jobId)
      const { tasks } = await readJob(accountId, jobId)
      await endCopy(accountId, jobId)
      if (times === "never") continue
      const messages = tasks.map(({ id, pool, priority, createdAt }) => {
        return { id, jobId, pool, priority, createdAt, weight: 1, jobWeight: 1, blocked: true }
      })
      await env.DISPATCHER.getByName(accountId).accept(accountId, messages)
    }
    for (const jobId of Object.values(jobs)) {
      expect((await readJob(accountId, jobId)).job.state).toBe("succeeded")
    }
    await awaitEmptyQueue()
  })
})
