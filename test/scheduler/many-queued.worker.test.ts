import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { newId } from "../../src/platform/ids.ts"
import { Dispatcher } from "../../src/scheduler/dispatcher.ts"
import { sweepDirectly } from "../support/sweep.ts"
import type { QueuedTask } from "../../src/scheduler/queued-task.ts"
import {
  recordStatements,
  countRowsReadByStatements,
  countStorageRowsRead,
} from "../support/db/asked-statements.ts"
import { listStoredTasks } from "../support/db/queued-tasks.ts"

const SWEEP_ROWS_MAX = 1_000
const END_ROWS_MAX = 50
const HOUR_MS = 3_600_000
const POOL = "media"

let accountId: string
let dispatcher: ReturnType<typeof env.DISPATCHER.getByName>

beforeEach(() => {
  accountId = newId()
  dispatcher = env.DISPATCHER.getByName(accountId)
})

/**
 * Creates open jobs of one task in order of time, each with an input that a file of its own
 * provides.
 */
async function makeJobs(
  count: number,
  { fileState = "succeeded", isQueued = true }: { fileState?: string; isQueued?: boolean } = {},
): Promise<void> {
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`
  const createdAt = Date.now() - HOUR_MS
  const run = newId().slice(-12)
  function idOf(kind: string): string {
    return `printf('${kind}%07x-0000-7000-8000-${run}', i)`
  }
  const [job, task, file] = ["a", "b", "c"].map(idOf)
  const objectKey = fileState === "succeeded" ? "'x'" : "null"
  const statements = [
    `insert into jobs (id, account_id, kind, state, version, priority, request, origin,
     processing_ms, attempts, created_at, accepted_at) ${numbers} select ${job}, '${accountId}',
     'command', 'waiting', 0, 50, '{}', 'https://x', 0, 0, ${createdAt}, ${createdAt} from n`,
    `insert into tasks (id, job_id, account_id, state, fence, priority, work, pool, failures,
     interruptions, created_at) ${numbers} select ${task}, ${job}, '${accountId}', 'waiting', 0, 50,
     '{"kind":"command"}', '${POOL}', 0, 0, ${createdAt} from n`,
    `insert into files (id, account_id, job_id, name, source, state, object_key, created_at)
     ${numbers} select ${file}, '${accountId}', ${file}, 'x', 'upload', '${fileState}', ${objectKey},
     ${createdAt} from n`,
    `insert into task_inputs (task_id, key, file_id) ${numbers} select ${task}, 'in_1', ${file} from n`,
  ]
  for (const statement of statements) await env.DB.prepare(statement).run()
  const state = fileState === "succeeded" ? "ready" : "blocked"
  await runInDurableObject(dispatcher, (_, { storage }) => {
    if (!isQueued) return
    storage.kv.put("account", accountId)
    storage.sql.exec(
      `insert into queued_tasks (id, job_id, pool, priority, state, lease_until, not_before,
       waits_since) ${numbers} select ${task}, ${job}, '${POOL}', 50, '${state}', 0, 0,
       ${createdAt} from n`,
    )
  })
}

async function queued(): Promise<QueuedTask[]> {
  return await runInDurableObject(dispatcher, (_, { storage }) => listStoredTasks(storage))
}

/** Helpers of a test inside the account's dispatcher. */
type Inside = {
  own: Dispatcher
  storage: DurableObjectStorage
  queued: () => QueuedTask[]
  /** Counts the rows of the dispatcher's tables that some work reads. */
  countRows: (work: () => Promise<void>) => Promise<number>
}

async function inDispatcher(work: (inside: Inside) => Promise<void>): Promise<void> {
  await runInDurableObject(dispatcher, async (own, { storage }) => {
    if (!(own instanceof Dispatcher)) throw new Error("this is no dispatcher")
    await work({
      own,
      storage,
      queued: () => listStoredTasks(storage),
      countRows: async (counted) => await countStorageRowsRead(storage.sql, counted),
    })
    await storage.deleteAlarm()
  })
}

describe("an account with 50,000 queued jobs", () => {
  it("costs a sweep and its dispatcher few rows", async () => {
    await makeJobs(50_000)
    const swept = await recordStatements(async () => await sweepDirectly(env, Date.now()))
    expect(swept.length).toBeGreaterThan(10)
    const rowsRead = await countRowsReadByStatements(swept)
    expect(rowsRead).toBeLessThanOrEqual(SWEEP_ROWS_MAX)
    await inDispatcher(async ({ own, countRows }) => {
      const ofTick = await countRows(async () => await own.tick(accountId))
      const ofAlarm = await countRows(async () => await own.alarm())
      const ofEnd = await countRows(async () => await own.tasksEnded(accountId, [newId()]))
      expect(Math.max(ofTick, ofAlarm)).toBeLessThanOrEqual(SWEEP_ROWS_MAX)
      expect(ofEnd).toBeLessThanOrEqual(END_ROWS_MAX)
    })
  })

  it("is queued again completely, page by page, after its dispatcher lost its storage", async () => {
    const count = 1_700
    await makeJobs(count, { isQueued: false })
    await inDispatcher(async ({ own, queued }) => {
      await own.tick(accountId)
      const first = queued().length
      expect(first).toBeGreaterThan(0)
      expect(first).toBeLessThan(count)
      for (let steps = 0; steps < 4; steps += 1) await own.alarm()
      expect(queued()).toHaveLength(count)
      expect(queued().map(({ state }) => state)).not.toContain("blocked")
    })
  })

  it("has a job without a queue entry found by sweeps at any position", async () => {
    await makeJobs(1_000)
    const lost = (await queued()).at(-1)?.id ?? ""
    await inDispatcher(async ({ own, queued, storage }) => {
      storage.sql.exec("delete from queued_tasks where id = ?", lost)
      for (let sweeps = 0; sweeps < 4; sweeps += 1) await own.tick(accountId)
      expect(queued().at(-1)).toMatchObject({ id: lost, state: "ready" })
    })
  })

  it("has a job that is over in D1 found by alarms at any position", async () => {
    await makeJobs(200)
    const over = (await queued()).at(-1)?.id ?? ""
    await env.DB.prepare("update tasks set state = 'canceled' where id = ?").bind(over).run()
    await inDispatcher(async ({ own, queued }) => {
      for (let alarms = 0; alarms < 4; alarms += 1) await own.alarm()
      expect(queued().find(({ id }) => id === over)).toBeUndefined()
      expect(queued()).toHaveLength(199)
    })
  })
})

describe("an account with 5,000 tasks that wait for inputs", () => {
  /** Returns the first waiting task and its input file. */
  async function first(): Promise<{ taskId: string; fileId: string }> {
    const taskId = (await queued())[0]?.id ?? ""
    const found = await env.DB.prepare("select file_id from task_inputs where task_id = ?")
      .bind(taskId)
      .first<string>("file_id")
    return { taskId, fileId: found ?? "" }
  }

  function stateOf(queue: QueuedTask[], taskId: string): string | undefined {
    return queue.find(({ id }) => id === taskId)?.state
  }

  it("reads only the waiting tasks of a file when a task ends", async () => {
    await makeJobs(5_000, { fileState: "waiting" })
    const { taskId, fileId } = await first()
    await env.DB.batch([
      env.DB.prepare("update files set state = 'succeeded', object_key = 'x' where id = ?").bind(
        fileId,
      ),
      env.DB.prepare(
        `insert into tasks (id, job_id, account_id, state, fence, priority, pool, work, created_at)
         values (?, ?, ?, 'succeeded', 1, 50, 'media', '{}', 0)`,
      ).bind(fileId, fileId, accountId),
    ])
    await inDispatcher(async ({ own, queued }) => {
      const asked = await recordStatements(async () => {
        await own.tasksEnded(accountId, [fileId], false, true)
      })
      expect(await countRowsReadByStatements(asked)).toBeLessThanOrEqual(END_ROWS_MAX)
      expect(stateOf(queued(), taskId)).toBe("ready")
    })
  })

  it("ends only the waiting jobs of a file when the file is removed", async () => {
    await makeJobs(5_000, { fileState: "waiting" })
    const { taskId, fileId } = await first()
    await env.DB.prepare("delete from files where id = ?").bind(fileId).run()
    await inDispatcher(async ({ own, queued }) => {
      await own.filesGone(accountId, [fileId])
      expect(stateOf(queued(), taskId)).toBeUndefined()
      const ended = await env.DB.prepare(
        "select error_code from jobs where account_id = ? and state = 'failed'",
      )
        .bind(accountId)
        .first<string>("error_code")
      expect(ended).toBe("input_deleted")
      expect(queued()).toHaveLength(4_999)
    })
  })

  it("reconciles all readers of one file in time when they exceed one read", async () => {
    const count = 1_200
    await makeJobs(count, { fileState: "waiting" })
    const { fileId } = await first()
    await env.DB.batch([
      env.DB.prepare(
        "update task_inputs set file_id = ?1 where task_id in (select id from tasks where account_id = ?2)",
      ).bind(fileId, accountId),
      env.DB.prepare("update files set state = 'succeeded', object_key = 'x' where id = ?").bind(
        fileId,
      ),
    ])
    await inDispatcher(async ({ own, queued }) => {
      await own.filesGone(accountId, [fileId])
      expect(queued()).toMatchObject(
        expect.arrayContaining([expect.objectContaining({ state: "blocked" })]),
      )
      for (let alarms = 0; alarms < 10; alarms += 1) await own.alarm()
      expect(queued().map(({ state }) => state)).not.toContain("blocked")
    })
  })
})
