import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import type { Failure } from "../../../src/contract/failure.ts"
import { newId } from "../../../src/platform/ids.ts"
import { computeRequeueTransition } from "../../../src/jobs/settle/transitions.ts"
import type { RequeueCause, TerminalReport } from "../../../src/jobs/settle/transitions.ts"
import { endOpenJob, settleTask, transitionJob } from "../../../src/jobs/settle/settle.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { createJob } from "../../support/db/create-job.ts"
import { readJobSnapshot } from "../../../src/db/jobs/apply-transition.ts"
import type { JobSnapshot } from "../../../src/domain/snapshot.ts"
import { draftJobRow, draftOutputFile, draftTask } from "../../../src/domain/job-draft.ts"
import { claimTask } from "../../../src/db/jobs/tasks.ts"
import { makeJobProperties } from "../../support/job-facts.ts"

const ACCOUNT = newId()
const database = openAccountDatabases(env, ACCOUNT)

/** Creates a command's job with one task, one output and a webhook. */
async function makeWaitingJob() {
  const id = newId()
  const facts = makeJobProperties("https://receiver.example/")
  const request = { input_files: {}, output_files: { out_1: "a.mp4" } }
  const task = draftTask(facts, {
    pool: "media",
    jobId: id,
    work: { kind: "command", commands: [["out_1"]], outputs: [], run_seconds_max: 1 },
    inputs: [],
    blocked: false,
  })
  await createJob(database, {
    job: draftJobRow(facts, { id, kind: "command", request }),
    tasks: [task],
    files: [draftOutputFile(facts, { jobId: id, outputKey: "out_1", name: "a.mp4" })],
  })
  return { jobId: id, taskId: task.task.id }
}

type Ids = { jobId: string; taskId: string }

function claim({ jobId, taskId }: Ids, allocation: number) {
  return claimTask(database, { jobId, taskId, slot: "media-0", allocation, now: Date.now() })
}

const moment = { boot: "boot", at: new Date().toISOString(), processing_seconds: 1 }
const finished: TerminalReport = {
  ...moment,
  kind: "finished",
  result: {
    kind: "command",
    outputs: [{ key: "out_1", size_bytes: 3, content_type: "video/mp4" }],
  },
}
const failure: Failure = { code: "command_failed", message: "It failed.", lines: [] }
const failed: TerminalReport = { ...moment, kind: "failed", blame: "caller", failure }
const ours: TerminalReport = {
  ...moment,
  kind: "failed",
  blame: "ours",
  failure: { ...failure, code: "internal" },
}
const interrupted: TerminalReport = { ...moment, kind: "interrupted" }

function report(ids: Ids, fence: number, received: TerminalReport) {
  return settleTask(env, { accountId: ACCOUNT, ...ids, fence }, received)
}

function requeue({ jobId, taskId }: Ids, fence: number, cause: RequeueCause) {
  const lost = { taskId, fence, cause, now: Date.now() }
  const job = { accountId: ACCOUNT, jobId }
  return transitionJob(env, job, (snapshot) => computeRequeueTransition(snapshot, lost))
}

async function read({ jobId }: Ids): Promise<JobSnapshot> {
  const snapshot = await readJobSnapshot(database, jobId)
  if (!snapshot) throw new Error("the job is gone")
  return snapshot
}

async function deliveriesOf({ jobId }: Ids) {
  const { results } = await env.DB.prepare("select id, type, body from deliveries where job_id = ?")
    .bind(jobId)
    .all<{ id: string; type: string; body: string }>()
  return results
}

describe("a claim", () => {
  it("raises the fence once for any number of claims with one allocation", async () => {
    const ids = await makeWaitingJob()
    const claims = await Promise.all([claim(ids, 1), claim(ids, 1), claim(ids, 1)])
    expect(claims.map((made) => made?.task.fence)).toEqual([1, 1, 1])
  })

  it("fails for other allocations while the task runs, and for all once the job is over", async () => {
    const ids = await makeWaitingJob()
    await claim(ids, 1)
    expect(await claim(ids, 2)).toBeNull()
    await report(ids, 1, finished)
    expect(await claim(ids, 1)).toBeNull()
  })
})

describe("a report", () => {
  it("of the end settles the job, its task and its files, and creates one delivery", async () => {
    const ids = await makeWaitingJob()
    await claim(ids, 1)
    expect((await report(ids, 1, finished)).outcome).toBe("settled")
    const { job, tasks, files } = await read(ids)
    expect([job.state, tasks[0]?.state, files[0]?.state]).toEqual(Array(3).fill("succeeded"))
    expect(files[0]?.objectKey).toBe(`${ACCOUNT}/tasks/${ids.taskId}/1/out_1/media`)
    expect(await deliveriesOf(ids)).toMatchObject([{ type: "command.succeeded" }])
  })

  it("is recognized when it comes twice, and changes nothing then", async () => {
    const ids = await makeWaitingJob()
    await claim(ids, 1)
    await report(ids, 1, finished)
    const before = await read(ids)
    expect((await report(ids, 1, finished)).outcome).toBe("repeated")
    expect((await report(ids, 1, failed)).outcome).toBe("stale")
    expect(await read(ids)).toEqual(before)
    expect(await deliveriesOf(ids)).toHaveLength(1)
  })

  it("of an earlier fence does not count", async () => {
    const ids = await makeWaitingJob()
    await claim(ids, 1)
    await report(ids, 1, interrupted)
    await claim(ids, 2)
    expect((await report(ids, 1, finished)).outcome).toBe("stale")
    expect((await report(ids, 2, finished)).outcome).toBe("settled")
    const { files } = await read(ids)
    expect(files[0]?.objectKey).toContain(`/${ids.taskId}/2/`)
  })

  it("of the caller's failure is final at once, with its message and lines", async () => {
    const ids = await makeWaitingJob()
    await claim(ids, 1)
    await report(ids, 1, failed)
    const { job, files } = await read(ids)
    expect(job).toMatchObject({ state: "failed", errorCode: "command_failed", attempts: 1 })
    expect(files[0]?.state).toBe("failed")
  })

  it.each([
    ["our own failures", ours, 3, "internal"],
    ["interruptions", interrupted, 10, "runner_lost"],
  ])("spends the budget of %s and then ends the job", async (_, received, budget, code) => {
    const ids = await makeWaitingJob()
    for (let attempt = 1; attempt <= budget; attempt += 1) {
      const claimed = await claim(ids, attempt)
      expect(claimed?.task.fence).toBe(attempt)
      await report(ids, attempt, received)
    }
    const { job } = await read(ids)
    expect(job).toMatchObject({ state: "failed", errorCode: code, attempts: budget })
    expect(await deliveriesOf(ids)).toHaveLength(1)
  })
})

describe("a dispatch without capacity", () => {
  it("does not count as an attempt", async () => {
    const ids = await makeWaitingJob()
    for (let allocation = 1; allocation <= 20; allocation += 1) {
      await claim(ids, allocation)
      await requeue(ids, allocation, "no capacity")
    }
    const { job, tasks } = await read(ids)
    expect([job.state, job.attempts, tasks[0]?.state]).toEqual(["waiting", 0, "waiting"])
  })
})

describe("a run that is handed over", () => {
  it("waits again at no cost to its budgets, and counts as an attempt", async () => {
    const ids = await makeWaitingJob()
    await claim(ids, 1)
    expect((await requeue(ids, 1, "hand-over")).applied).toBe(true)
    const { tasks } = await read(ids)
    expect(tasks).toMatchObject([{ state: "waiting", slot: null, failures: 0, interruptions: 0 }])
    await claim(ids, 2)
    expect((await report(ids, 1, finished)).outcome).toBe("stale")
    expect((await report(ids, 2, finished)).outcome).toBe("settled")
    expect((await read(ids)).job.attempts).toBe(2)
  })

  it("is handed over at most once, for any outcome of its later runs", async () => {
    const ids = await makeWaitingJob()
    await claim(ids, 1)
    await requeue(ids, 1, "hand-over")
    await claim(ids, 2)
    expect((await requeue(ids, 2, "hand-over")).applied).toBe(false)
    await report(ids, 2, interrupted)
    await claim(ids, 3)
    expect((await requeue(ids, 3, "hand-over")).applied).toBe(false)
    expect((await report(ids, 3, finished)).outcome).toBe("settled")
    expect(await deliveriesOf(ids)).toHaveLength(1)
  })

  it("continues if the request means another run", async () => {
    const ids = await makeWaitingJob()
    await claim(ids, 1)
    await report(ids, 1, interrupted)
    await claim(ids, 2)
    expect((await requeue(ids, 1, "hand-over")).applied).toBe(false)
    expect((await read(ids)).tasks).toMatchObject([{ state: "running", handOvers: 0 }])
  })
})

describe("events that race for the end of a job", () => {
  it("end it once, with one webhook, over random interleavings", async () => {
    for (let round = 0; round < 60; round += 1) {
      const ids = await makeWaitingJob()
      await claim(ids, 1)
      const canceled = {
        state: "canceled" as const,
        failure: { code: "canceled" as const, message: "Canceled.", lines: [] },
      }
      const acts = [
        () => report(ids, 1, finished),
        () => report(ids, 1, finished),
        () => report(ids, 1, failed),
        () => report(ids, 1, interrupted),
        () => endOpenJob(env, { accountId: ACCOUNT, jobId: ids.jobId }, canceled),
        () => claim(ids, 2),
        () => report(ids, 2, finished),
      ]
      const order = acts.toSorted(() => Math.random() - 0.5)
      await Promise.all(order.map((act) => act()))
      await endOpenJob(env, { accountId: ACCOUNT, jobId: ids.jobId }, canceled)
      const { job, tasks, files } = await read(ids)
      const states = [job.state, tasks[0]?.state]
      expect(["succeeded", "failed", "canceled"]).toContain(job.state)
      expect(states).toEqual([job.state, job.state])
      expect(files[0]?.state).toBe(job.state === "succeeded" ? "succeeded" : "failed")
      const deliveries = await deliveriesOf(ids)
      expect(deliveries).toHaveLength(1)
      expect(deliveries[0]?.type).toBe(`command.${job.state}`)
    }
  })
})
