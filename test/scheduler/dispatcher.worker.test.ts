import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { LEASE_DURATION_MS } from "../../src/contract/protocol.ts"
import { newId } from "../../src/platform/ids.ts"
import { Dispatcher } from "../../src/scheduler/dispatcher.ts"
import { toQueueEntryOfOpenTask } from "../../src/scheduler/queued-task.ts"
import { endOpenJob } from "../../src/jobs/settle/settle.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { listOpenTasks } from "../../src/db/jobs/open-tasks.ts"
import { TaskQueue } from "../../src/scheduler/queue.ts"
import type { QueuedTask } from "../../src/scheduler/queued-task.ts"
import { readJobSnapshot } from "../../src/db/jobs/apply-transition.ts"
import { makeClaimedJob, makeQueuedJob } from "../support/db/queued-job.ts"
import { listStoredTasks } from "../support/db/queued-tasks.ts"
import { readStoredWebhook } from "../support/stored-webhook.ts"

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const failure = { code: "canceled" as const, message: "Canceled.", lines: [] }

let accountId: string
let dispatcher: ReturnType<typeof env.DISPATCHER.getByName>

beforeEach(() => {
  accountId = newId()
  dispatcher = env.DISPATCHER.getByName(accountId)
})

afterEach(() => {
  vi.restoreAllMocks()
})

function readQueue(): Promise<QueuedTask[]> {
  return runInDurableObject(dispatcher, (_, { storage }) => listStoredTasks(storage))
}

function readAlarm(): Promise<number | null> {
  return runInDurableObject(dispatcher, (_, { storage }) => storage.getAlarm())
}

async function taskOf(jobId: string) {
  return (await readJobSnapshot(openAccountDatabases(env, accountId), jobId))?.tasks[0]
}

async function jobOf(jobId: string) {
  return (await readJobSnapshot(openAccountDatabases(env, accountId), jobId))?.job
}

/** Puts a claimed task into the dispatcher's queue as running, with an expired lease. */
async function queueRunning(taskIds: string[], changes: Partial<QueuedTask> = {}) {
  const open = await listOpenTasks(openAccountDatabases(env, accountId), taskIds)
  await runInDurableObject(dispatcher, (_, { storage }) => {
    const queue = new TaskQueue(storage.sql)
    storage.kv.put("account", accountId)
    for (const task of open) {
      const adopted = toQueueEntryOfOpenTask(task, {
        isBlocked: false,
        jobWeight: 1,
        now: Date.now(),
      })
      queue.add([{ ...adopted, state: "running", boot: "boot", leaseUntil: 1, ...changes }])
    }
  })
}

/**
 * Runs `work` on a dispatcher inside its object, so that its alarm can be called between other
 * calls.
 */
async function inDispatcher(work: (running: Dispatcher) => Promise<void>): Promise<void> {
  await runInDurableObject(dispatcher, async (instance) => {
    if (!(instance instanceof Dispatcher)) throw new Error("this is no dispatcher")
    await work(instance)
  })
}

describe("a message that comes after the end of its job", () => {
  it.each([true, false])("leaves no task and no alarm (blocked: %s)", async (blocked) => {
    const { jobId, message } = await makeQueuedJob(accountId)
    await endOpenJob(env, { accountId, jobId }, { state: "canceled", failure })
    await dispatcher.accept(accountId, [{ ...message, blocked }])
    await expect
      .poll(
        async () => {
          await runDurableObjectAlarm(dispatcher)
          return [await readQueue(), await readAlarm()]
        },
        { timeout: 60_000 },
      )
      .toEqual([[], null])
  })
})

describe("a job of a kind that this version does not know", () => {
  it("ends and sends its webhook", async () => {
    const { jobId, taskId } = await makeClaimedJob(accountId)
    await env.DB.batch([
      env.DB.prepare(
        "update jobs set kind = 'nosuch', webhook_url = 'https://x.example/' where id = ?",
      ).bind(jobId),
      env.DB.prepare("update tasks set failures = 2 where id = ?").bind(taskId),
    ])
    await queueRunning([taskId])
    await inDispatcher(async (running) => await running.alarm())
    expect(await jobOf(jobId)).toMatchObject({ state: "failed", errorCode: "runner_lost" })
    const { body } = await readStoredWebhook(jobId)
    expect(JSON.parse(body)).toMatchObject({
      type: "nosuch.failed",
      data: { id: jobId, status: "failed", error: { code: "runner_lost" } },
    })
  })
})

describe("a job whose end cannot be written", () => {
  /** Spends the budget of a task, and makes D1 refuse every row of its end. */
  async function refuseEnd({ jobId, taskId }: { jobId: string; taskId: string }) {
    await env.DB.batch([
      env.DB.prepare(
        `create trigger "refuses ${jobId}" before update of state on jobs when new.id = '${jobId}'
         begin select raise(abort, 'this job cannot end'); end`,
      ),
      env.DB.prepare("update tasks set failures = 2 where id = ?").bind(taskId),
    ])
  }

  it("does not delay the leases of other jobs", async () => {
    const [bad, good] = [await makeClaimedJob(accountId), await makeClaimedJob(accountId)]
    await refuseEnd(bad)
    await queueRunning([bad.taskId, good.taskId])
    await inDispatcher(async (running) => await running.alarm())
    expect(await taskOf(good.jobId)).toMatchObject({ state: "waiting", failures: 1 })
  })

  it("does not delay other runs that were lost with its process", async () => {
    const [bad, good] = [await makeClaimedJob(accountId), await makeClaimedJob(accountId)]
    await refuseEnd(bad)
    await queueRunning([bad.taskId, good.taskId], { leaseUntil: Date.now() + LEASE_DURATION_MS })
    await dispatcher.runsLost(accountId, { boot: "another" }).catch(() => undefined)
    expect(await taskOf(good.jobId)).toMatchObject({ state: "waiting", failures: 1 })
  })
})

describe("a lease", () => {
  it("stays valid when it is renewed during the check", async () => {
    const { jobId, taskId } = await makeClaimedJob(accountId)
    await queueRunning([taskId])
    await inDispatcher(async (running) => {
      const alarm = running.alarm()
      expect(await running.renewLease(accountId, jobId, { taskId, fence: 1, boot: "boot" })).toBe(
        true,
      )
      await alarm
    })
    expect(await taskOf(jobId)).toMatchObject({ state: "running", fence: 1, failures: 0 })
  })

  it("is never longer than a new lease", async () => {
    const { taskId } = await makeClaimedJob(accountId)
    await queueRunning([taskId], { leaseUntil: Date.now() + HOUR_MS })
    await inDispatcher(async (running) => await running.alarm())
    const [task] = await readQueue()
    expect(task?.state).toBe("running")
    expect(task?.leaseUntil).toBeLessThanOrEqual(Date.now() + LEASE_DURATION_MS)
  })

  it("does not expire when the clock jumps forward by an hour", async () => {
    const { jobId, taskId } = await makeClaimedJob(accountId)
    await queueRunning([taskId], { leaseUntil: Date.now() + LEASE_DURATION_MS })
    await inDispatcher(async (running) => {
      await running.alarm()
      const now = Date.now()
      vi.spyOn(Date, "now").mockImplementation(() => now + HOUR_MS)
      await running.alarm()
    })
    expect(await taskOf(jobId)).toMatchObject({ state: "running", failures: 0 })
  })
})

describe("a clock that ran an hour ahead", () => {
  it("leaves no alarm an hour in the future", async () => {
    const { message } = await makeQueuedJob(accountId)
    await inDispatcher(async (running) => {
      const now = Date.now()
      const clock = vi.spyOn(Date, "now").mockImplementation(() => now + HOUR_MS)
      await running.accept(accountId, [{ ...message, blocked: false }])
      clock.mockRestore()
      await running.tick(accountId)
    })
    expect(await readAlarm()).toBeLessThanOrEqual(Date.now() + 30_000)
  })

  it("leaves no task in backoff for an hour", async () => {
    const { taskId } = await makeClaimedJob(accountId)
    await queueRunning([taskId], { state: "ready", notBefore: Date.now() + HOUR_MS })
    await runInDurableObject(dispatcher, (_, { storage }) => {
      const queue = new TaskQueue(storage.sql)
      expect(queue.ready(10, Date.now(), "media")).toHaveLength(1)
      expect(queue.nextReadyIn(Date.now())).toBeNull()
    })
  })
})

describe("a task of a kind that this version does not know", () => {
  async function forgetKind(taskId: string) {
    await env.DB.prepare("update tasks set work = ? where id = ?")
      .bind(JSON.stringify({ kind: "nosuch" }), taskId)
      .run()
  }

  it("does not delay other tasks of its account", async () => {
    const [unknown, known] = [await makeQueuedJob(accountId), await makeQueuedJob(accountId)]
    await forgetKind(unknown.taskId)
    await dispatcher.tick(accountId).catch(() => undefined)
    const queue = await readQueue()
    const queued = queue.find(({ id }) => id === known.taskId)
    expect(queued?.state).toMatch(/ready|starting|posting/)
  })

  it("expires with its job", async () => {
    const { jobId, taskId } = await makeQueuedJob(accountId, { agoMs: 2 * DAY_MS })
    await forgetKind(taskId)
    await dispatcher.tick(accountId).catch(() => undefined)
    expect(await jobOf(jobId)).toMatchObject({ state: "failed", errorCode: "expired" })
    expect(await readQueue()).toEqual([])
  })
})

describe("a dispatcher whose storage was lost", () => {
  it("dispatches a task again at the same fence if no runner is known to have it", async () => {
    const { jobId, taskId } = await makeClaimedJob(accountId)
    await dispatcher.tick(accountId)
    expect(await readQueue()).toMatchObject([{ id: taskId, state: "posting", fence: 1 }])
    await runDurableObjectAlarm(dispatcher)
    expect(await taskOf(jobId)).toMatchObject({ state: "running", fence: 1, failures: 0 })
  })

  it("adopts a claimed task although a message queued it as new", async () => {
    const { jobId, taskId, message } = await makeClaimedJob(accountId)
    await env.DB.prepare("update jobs set state = 'running' where id = ?").bind(jobId).run()
    await runInDurableObject(dispatcher, (_, { storage }) => {
      const queue = new TaskQueue(storage.sql)
      const [waiting, rest] = [{ state: "blocked" as const }, { boot: null, notBefore: 0 }]
      const weights = { weight: 1, jobWeight: 1 }
      const nothing = {
        ...weights,
        fence: null,
        slot: null,
        allocation: null,
        leaseUntil: 0,
        waitsSince: 0,
      }
      queue.add([{ ...message, ...nothing, ...rest, ...waiting }])
    })
    await dispatcher.tick(accountId)
    expect(await readQueue()).toMatchObject([{ id: taskId, state: "running", fence: 1 }])
  })
})
