import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { newId } from "../../../src/platform/ids.ts"
import { endOpenJob } from "../../../src/jobs/settle/settle.ts"
import { getDispatcher } from "../../../src/bindings/durable-objects.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { draftJobRow, draftTask } from "../../../src/domain/job-draft.ts"
import { createJob } from "../../support/db/create-job.ts"
import { makeJobProperties } from "../../support/job-facts.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import {
  createBatchOfCopies,
  createCopy,
  endCopy,
  failCopy,
  makeCopyBody,
} from "../../support/chains.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { readInputReadiness, readJob } from "../../support/runner/stand-in-runner.ts"

const RACES = 4
const FAILURE = { code: "command_failed" as const, message: "It failed.", lines: [] }

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`races ${newId()}`)
  accountId = await findCallerAccountId(caller)
})

/** Ends of a needed job, and the outcomes that a create at the same time may have. */
const ENDS: [string, (jobId: string) => Promise<unknown>, string][] = [
  ["end", async (jobId) => await endCopy(accountId, jobId), "ready"],
  ["failure", async (jobId) => await failCopy(accountId, jobId), "input_failed"],
  ["cancellation", async (jobId) => await send("POST", `/jobs/${jobId}/cancel`), "input_failed"],
  ["deletion", async (jobId) => await send("DELETE", `/commands/${jobId}`), "input_deleted"],
]

async function send(method: string, path: string): Promise<void> {
  const answer = await caller.call(path, { method })
  expect(answer.status).toBe(200)
}

/** Returns the readiness of a job's input, or the code with which the job failed. */
async function readOutcome(jobId: string): Promise<string> {
  const { job, tasks } = await readJob(accountId, jobId)
  if (job.state === "failed") return String(job.errorCode)
  const readiness = await readInputReadiness(accountId, tasks[0]?.id ?? "")
  return String(readiness)
}

async function readQueuedState(jobId: string): Promise<unknown> {
  await getDispatcher(env, accountId).accept(accountId, [])
  return await readOutcome(jobId)
}

describe("a create at the moment of", () => {
  it.each(ENDS)(
    "the %s of the job that it needs is refused or never waits",
    async (_, end, outcome) => {
      for (let race = 0; race < RACES; race += 1) {
        const needed = await createCopy(caller)
        const body = makeCopyBody([`svc_id://${needed}/out_1`])
        const creating = scheduler.wait(race % 4).then(() => caller.post("/commands", body))
        const [answer] = await Promise.all([creating, end(needed)])
        // A create that comes after the end of the needed job is refused, unless the job succeeded.
        const isRefused = answer.status === 422 && outcome !== "ready"
        if (isRefused) continue
        expect(answer.status).toBe(202)
        const { command_id: id } = z.object({ command_id: z.string() }).parse(await answer.json())
        await expect.poll(() => readQueuedState(id)).toBe(outcome)
        expect((await readJob(accountId, id)).job.waitingFor ?? []).toEqual([])
      }
    },
  )
})

/** Creates a job whose request was checked before the end of the job that it needs. */
async function createLate(neededJobId: string, fileId: string): Promise<string> {
  const [id, facts] = [newId(), makeJobProperties(null)]
  const work = { kind: "command", commands: [["out_1"]], outputs: [], run_seconds_max: 1 }
  const inputs = [{ key: "in_1", fileId, awaitsProbe: false }]
  const created = draftTask(facts, { pool: "media", jobId: id, work, inputs, blocked: true })
  await createJob(openAccountDatabases(env, accountId), {
    job: draftJobRow(facts, { id, kind: "command", request: { output_files: {} } }),
    tasks: [created],
    files: [],
    neededJobIds: [neededJobId],
  })
  const { task } = created
  const message = { jobId: id, pool: "media", priority: 50, createdAt: facts.now, blocked: true }
  const weights = { weight: 1, jobWeight: 1 }
  await getDispatcher(env, accountId).accept(accountId, [{ id: task.id, ...message, ...weights }])
  return id
}

describe("a create that was checked before", () => {
  it.each(ENDS)("the %s of the job that it needs does not wait", async (_, end, outcome) => {
    const needed = await createCopy(caller)
    const { files } = await readJob(accountId, needed)
    await end(needed)
    const id = await createLate(needed, files[0]?.id ?? "")
    await expect.poll(() => readQueuedState(id)).toBe(outcome)
    expect((await readJob(accountId, id)).job.waitingFor).toEqual([])
  })
})

describe("the last two jobs of a batch that end at the same time", () => {
  it("write its webhook once", async () => {
    for (let race = 0; race < RACES; race += 1) {
      const { id, jobs } = await createBatchOfCopies(
        caller,
        { one: [], two: [] },
        { webhook: "https://receiver.example/batch" },
      )
      await Promise.all(
        Object.values(jobs).map(async (jobId, at) => {
          const end = { state: at === 0 ? "failed" : "canceled", failure: FAILURE } as const
          await Promise.all([1, 2].map(() => endOpenJob(env, { accountId, jobId }, end)))
        }),
      )
      const { results } = await env.DB.prepare("select type from deliveries where job_id = ?")
        .bind(id)
        .all()
      expect(results).toEqual([{ type: "batch.failed" }])
      const counts = await env.DB.prepare(
        "select open_jobs, failed_jobs, completed_at is not null as is_over from batches where id = ?",
      )
        .bind(id)
        .first()
      expect(counts).toEqual({ open_jobs: 0, failed_jobs: 2, is_over: 1 })
    }
  })

  it("write it once although they succeed", async () => {
    for (let race = 0; race < RACES; race += 1) {
      const { id, jobs } = await createBatchOfCopies(
        caller,
        { one: [], two: [] },
        { webhook: "https://receiver.example/batch" },
      )
      await Promise.all(Object.values(jobs).map((jobId) => endCopy(accountId, jobId)))
      const { results } = await env.DB.prepare("select type from deliveries where job_id = ?")
        .bind(id)
        .all()
      expect(results).toEqual([{ type: "batch.succeeded" }])
    }
  })
})
