import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { newId } from "../../../src/platform/ids.ts"
import { draftJobRow, draftOutputFile, draftTask } from "../../../src/domain/job-draft.ts"
import { settleTask } from "../../../src/jobs/settle/settle.ts"
import type { TerminalReport } from "../../../src/jobs/settle/transitions.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { createJob } from "../../support/db/create-job.ts"
import { storeAcceptedAndStartedJobs } from "../../../src/db/jobs/jobs.ts"
import { makeOutputObjectKey } from "../../../src/domain/object-keys.ts"
import { claimTask } from "../../../src/db/jobs/tasks.ts"
import { readJobSnapshot } from "../../../src/db/jobs/apply-transition.ts"
import { makeJobProperties } from "../../support/job-facts.ts"

const accountId = newId()
const database = openAccountDatabases(env, accountId)
const names = { out_1: "a.mp4", out_2: "b.mp4" }
const failure = { code: "command_failed" as const, message: "It failed.", lines: [] }
const failed = { kind: "failed" as const, blame: "caller" as const, failure }

/** Starts a command's job with two running tasks, each of which makes one of its outputs. */
async function startJob() {
  const jobId = newId()
  const facts = makeJobProperties("https://receiver.example/")
  const outputs = Object.entries(names).map(([key, name]) => ({ key, name }))
  const tasks = outputs.map((output) => {
    const work = { kind: "command", commands: [["x"]], outputs: [output], run_seconds_max: 1 }
    return draftTask(facts, { pool: "media", jobId, work, inputs: [], blocked: false })
  })
  await createJob(database, {
    job: draftJobRow(facts, { id: jobId, kind: "command", request: { output_files: names } }),
    tasks,
    files: outputs.map(({ key, name }) => draftOutputFile(facts, { jobId, outputKey: key, name })),
  })
  const ids = tasks.map(({ task }) => task.id)
  for (const [index, taskId] of ids.entries()) {
    const slot = `media-${index}`
    await claimTask(database, { taskId, jobId, slot, allocation: 1, now: Date.now() })
  }
  const taken = ids.map((taskId) => ({ jobId, taskId, fence: 1, at: Date.now() }))
  await storeAcceptedAndStartedJobs(database, { accepted: [], taken, now: Date.now() })
  const [first = "", second = ""] = ids
  return { jobId, first, second }
}

function finished(key: string, size_bytes: number) {
  const outputs = [{ key, size_bytes, content_type: "video/mp4" }]
  return { kind: "finished" as const, result: { kind: "command", outputs } }
}

type Ending = ReturnType<typeof finished> | typeof failed

async function report(jobId: string, taskId: string, ending: Ending): Promise<string> {
  const moment = { boot: "boot", at: new Date().toISOString(), processing_seconds: 1 }
  const received: TerminalReport = { ...moment, ...ending }
  return (await settleTask(env, { accountId, jobId, taskId, fence: 1 }, received)).outcome
}

async function read(jobId: string) {
  const snapshot = await readJobSnapshot(database, jobId)
  if (!snapshot) throw new Error("the job is gone")
  const { job, tasks, files } = snapshot
  return {
    job,
    task: (id: string) => tasks.find((each) => each.id === id),
    file: (key: string) => files.find(({ outputKey }) => outputKey === key),
  }
}

async function deliveryTypes(jobId: string): Promise<unknown[]> {
  const query = env.DB.prepare("select type from deliveries where job_id = ?").bind(jobId)
  return (await query.all()).results.map(({ type }) => type)
}

describe("a job of two tasks", () => {
  it("continues after its first task, whose result and file are kept", async () => {
    const { jobId, first, second } = await startJob()
    expect(await report(jobId, first, finished("out_1", 3))).toBe("settled")
    const { job, task, file } = await read(jobId)
    expect(job).toMatchObject({ state: "running", result: null, completedAt: null })
    expect(task(first)).toMatchObject({
      state: "succeeded",
      result: { kind: "command", outputs: [{ key: "out_1", size_bytes: 3 }] },
    })
    expect(task(second)).toMatchObject({ state: "running", result: null })
    expect([file("out_1")?.state, file("out_2")?.state]).toEqual(["succeeded", "running"])
    expect(await deliveryTypes(jobId)).toEqual([])
  })

  it.each([
    ["in their order", ["out_1", "out_2"]],
    ["in reverse order", ["out_2", "out_1"]],
  ])("succeeds once with its last task, with the files of both, ended %s", async (_, order) => {
    const { jobId, first, second } = await startJob()
    const byKey = new Map([
      ["out_1", { taskId: first, sizeBytes: 3 }],
      ["out_2", { taskId: second, sizeBytes: 5 }],
    ])
    for (const key of order) {
      const { taskId = "", sizeBytes = 0 } = byKey.get(key) ?? {}
      expect(await report(jobId, taskId, finished(key, sizeBytes))).toBe("settled")
    }
    const { job, task, file } = await read(jobId)
    expect(job).toMatchObject({ state: "succeeded", processingMs: 2000 })
    const made = Object.fromEntries(job.result?.outputs.map((each) => [each.key, each]) ?? [])
    for (const [key, { taskId, sizeBytes }] of byKey) {
      expect(task(taskId)?.state).toBe("succeeded")
      expect(file(key)).toMatchObject({
        state: "succeeded",
        sizeBytes,
        objectKey: makeOutputObjectKey(accountId, { taskId, fence: 1 }, key),
      })
      expect(made[key]).toMatchObject({ fileId: file(key)?.id, sizeBytes })
    }
    expect(Object.keys(made)).toHaveLength(2)
    expect(await deliveryTypes(jobId)).toEqual(["command.succeeded"])
    expect(await report(jobId, first, finished("out_1", 3))).toBe("repeated")
    expect(await deliveryTypes(jobId)).toHaveLength(1)
  })

  it("fails with its first failed task, and the other no longer counts", async () => {
    const { jobId, first, second } = await startJob()
    await report(jobId, first, finished("out_1", 3))
    expect(await report(jobId, second, failed)).toBe("settled")
    const { job, task, file } = await read(jobId)
    expect(job).toMatchObject({ state: "failed", errorCode: "command_failed", result: null })
    expect([task(first)?.state, task(second)?.state]).toEqual(["succeeded", "failed"])
    expect(file("out_2")?.state).toBe("failed")
    expect(await deliveryTypes(jobId)).toEqual(["command.failed"])
    const other = await startJob()
    await report(other.jobId, other.second, failed)
    expect(await report(other.jobId, other.first, finished("out_1", 3))).toBe("stale")
    expect((await read(other.jobId)).task(other.first)?.state).toBe("canceled")
  })

  it("ends once, with one webhook, for any race of its reports", async () => {
    for (let round = 0; round < 30; round += 1) {
      const { jobId, first, second } = await startJob()
      const acts = [
        () => report(jobId, first, finished("out_1", 3)),
        () => report(jobId, first, finished("out_1", 3)),
        () => report(jobId, second, finished("out_2", 5)),
        () => report(jobId, second, finished("out_2", 5)),
        ...(round % 2 === 0 ? [() => report(jobId, second, failed)] : []),
      ]
      await Promise.all(acts.toSorted(() => Math.random() - 0.5).map((act) => act()))
      const { job, file } = await read(jobId)
      expect(round % 2 === 0 ? ["succeeded", "failed"] : ["succeeded"]).toContain(job.state)
      expect(job.result?.outputs.length ?? 0).toBe(job.state === "succeeded" ? 2 : 0)
      expect(file("out_2")?.state).toBe(job.state)
      expect(await deliveryTypes(jobId)).toEqual([`command.${job.state}`])
    }
  })
})
