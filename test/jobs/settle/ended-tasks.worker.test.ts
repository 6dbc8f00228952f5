import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { handleRunnerReport } from "../../../src/jobs/settle/settle.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { makeCommandBody } from "../../support/media/command-request.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  PROBE_RESULT,
  PROBE_TASK_END,
  readJob,
} from "../../support/runner/stand-in-runner.ts"

const BOOT = "0193e0a0-0000-7000-8000-000000000001"

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`ended ${crypto.randomUUID()}`, "paid")
  accountId = await findCallerAccountId(caller)
})

async function countOf(sql: string, id: string): Promise<unknown> {
  return await env.DB.prepare(`select count(*) as n from ${sql}`).bind(id).first("n")
}

/** Runs a command to its end; returns it with its task from before. */
async function ended() {
  const { id: fileId } = await uploadTestFile(caller, "clip.mp4", "x")
  await claimAndEndTask(await findTaskByKind(accountId, fileId, "probe"), PROBE_TASK_END)
  const answer = await caller.post("/commands", makeCommandBody(fileId))
  const { command_id: jobId } = await answer.json<{ command_id: string }>()
  const task = await findTaskByKind(accountId, jobId, "command")
  const failure = { code: "command_failed" as const, message: "It failed." }
  expect(await claimAndEndTask(task, { failure })).toBe("ok")
  return { jobId, fileId, task }
}

describe("the tasks of a finished job", () => {
  it("have no rows, and are read from the row of their job", async () => {
    const { jobId, fileId, task } = await ended()
    expect(await countOf("tasks where job_id = ?", jobId)).toBe(0)
    expect(await countOf("task_inputs where task_id = ?", task.id)).toBe(0)
    expect(await countOf("tasks where job_id = ?", fileId)).toBe(0)
    const { tasks, inputs } = await readJob(accountId, jobId)
    const { id, work, pool, weight, createdAt } = task
    expect(tasks).toMatchObject([
      { id, jobId, work, pool, weight, createdAt, state: "failed", fence: 1 },
    ])
    expect(inputs).toEqual([{ taskId: id, key: "in_1", fileId, awaitsProbe: false }])
  })

  it("are found by late and repeated reports", async () => {
    const { jobId, task } = await ended()
    const run = { accountId, jobId, taskId: task.id, fence: 1 }
    const said = { boot: BOOT, at: new Date().toISOString(), processing_seconds: 1 }
    const failure = { code: "command_failed" as const, message: "It failed.", lines: [] }
    const failed = { ...said, kind: "failed" as const, blame: "caller" as const, failure }
    expect(await handleRunnerReport(env, run, failed)).toBe("ok")
    expect(await handleRunnerReport(env, { ...run, fence: 2 }, failed)).toBe("gone")
    expect(
      await handleRunnerReport(env, run, { ...said, kind: "finished", result: PROBE_RESULT }),
    ).toBe("gone")
    expect((await readJob(accountId, jobId)).job).toMatchObject({ state: "failed", version: 2 })
  })

  it("get rows of their own in a retry", async () => {
    const { jobId, fileId, task } = await ended()
    const answer = await caller.call(`/jobs/${jobId}/retry`, { method: "POST" })
    expect(answer.status).toBe(202)
    const again = await answer.json<{ id: string }>()
    const { tasks, inputs } = await readJob(accountId, again.id)
    expect(tasks).toMatchObject([{ work: { kind: "command" }, pool: task.pool }])
    expect(inputs).toMatchObject([{ key: "in_1", fileId }])
    expect(await countOf("tasks where job_id = ?", again.id)).toBe(1)
    expect((await caller.call(`/jobs/${again.id}/cancel`, { method: "POST" })).status).toBe(200)
    expect(await countOf("tasks where job_id = ?", again.id)).toBe(0)
    expect((await readJob(accountId, again.id)).tasks).toMatchObject([{ state: "canceled" }])
  })
})
