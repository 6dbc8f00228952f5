import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { newId } from "../../../src/platform/ids.ts"
import { computeExpiryTransition } from "../../../src/scheduler/expire-waiting-jobs.ts"
import { settleTask, transitionJob } from "../../../src/jobs/settle/settle.ts"
import { computeRequeueTransition } from "../../../src/jobs/settle/transitions.ts"
import type { TerminalReport } from "../../../src/jobs/settle/transitions.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { createJob } from "../../support/db/create-job.ts"
import { draftJobRow, draftOutputFile, draftTask } from "../../../src/domain/job-draft.ts"
import { storeAcceptedAndStartedJobs } from "../../../src/db/jobs/jobs.ts"
import { claimTask } from "../../../src/db/jobs/tasks.ts"
import { readJobSnapshot } from "../../../src/db/jobs/apply-transition.ts"
import { makeJobProperties } from "../../support/job-facts.ts"

const ACCOUNT = newId()
const WAIT_MS_MAX = 10_000
const database = openAccountDatabases(env, ACCOUNT)

const outputs = [{ key: "out_1", size_bytes: 3, content_type: "video/mp4" }]
const report = { boot: "boot", at: new Date().toISOString(), processing_seconds: 2 }
const finished: TerminalReport = {
  ...report,
  kind: "finished",
  result: { kind: "command", outputs },
}
const interrupted: TerminalReport = { ...report, kind: "interrupted" }

type JobFixture = { jobId: string; taskIds: string[]; createdAt: number }

/** Creates a command's job at an earlier time. */
async function makeJob(tasksCount: number, agoMs: number): Promise<JobFixture> {
  const jobId = newId()
  const facts = { ...makeJobProperties(null), now: Date.now() - agoMs }
  const work = { kind: "command", commands: [["out_1"]], outputs: [], run_seconds_max: 1 }
  const tasks = Array.from({ length: tasksCount }, () =>
    draftTask(facts, { pool: "media", jobId, work, inputs: [], blocked: false }),
  )
  await createJob(database, {
    job: draftJobRow(facts, { id: jobId, kind: "command", request: { output_files: {} } }),
    tasks,
    files: [draftOutputFile(facts, { jobId, outputKey: "out_1", name: "a.mp4" })],
  })
  return { jobId, taskIds: tasks.map(({ task }) => task.id), createdAt: facts.now }
}

async function claim({ jobId, taskIds }: JobFixture, index: number, allocation: number) {
  const taskId = taskIds[index] ?? ""
  return claimTask(database, { jobId, taskId, slot: "media-0", allocation, now: Date.now() })
}

async function take({ jobId, taskIds }: JobFixture, index: number, fence: number, at = Date.now()) {
  const taken = [{ jobId, taskId: taskIds[index] ?? "", fence, at }]
  await storeAcceptedAndStartedJobs(database, { accepted: [], taken, now: Date.now() })
}

function receive(
  { jobId, taskIds }: JobFixture,
  index: number,
  fence: number,
  received = finished,
) {
  return settleTask(
    env,
    { accountId: ACCOUNT, jobId, taskId: taskIds[index] ?? "", fence },
    received,
  )
}

async function read({ jobId }: JobFixture) {
  const snapshot = await readJobSnapshot(database, jobId)
  if (!snapshot) throw new Error("the job is gone")
  return snapshot
}

async function isExpired(made: JobFixture, afterMs = 0): Promise<boolean> {
  const due = { now: Date.now() + afterMs, waitMsMax: WAIT_MS_MAX, arrivedAt: 0 }
  return computeExpiryTransition(await read(made), due) !== null
}

describe("a job", () => {
  it("waits while its task is claimed, and runs once a runner took it", async () => {
    const made = await makeJob(1, 0)
    await claim(made, 0, 1)
    const claimed = await read(made)
    expect(claimed.job).toMatchObject({ state: "waiting", startedAt: null, attempts: 0 })
    expect([claimed.tasks[0]?.state, claimed.files[0]?.state]).toEqual(["running", "waiting"])
    await take(made, 0, 1, 1234)
    const taken = await read(made)
    expect(taken.job).toMatchObject({ state: "running", startedAt: 1234, attempts: 1 })
    expect(taken.files[0]?.state).toBe("running")
  })

  it("is not started by a runner whose claim is over", async () => {
    const made = await makeJob(1, 0)
    await claim(made, 0, 1)
    await transitionJob(env, { accountId: ACCOUNT, jobId: made.jobId }, (snapshot) =>
      computeRequeueTransition(snapshot, {
        taskId: made.taskIds[0] ?? "",
        fence: 1,
        cause: "no capacity",
        now: Date.now(),
      }),
    )
    await take(made, 0, 1)
    expect((await read(made)).job.state).toBe("waiting")
    await claim(made, 0, 2)
    await take(made, 0, 1)
    expect((await read(made)).job.state).toBe("waiting")
  })

  it("gets its start from the duration of its run if it ended before its start was noted", async () => {
    const made = await makeJob(1, 60_000)
    await claim(made, 0, 1)
    expect((await receive(made, 0, 1)).outcome).toBe("settled")
    const ended = await read(made)
    const { state, startedAt, completedAt, attempts } = ended.job
    expect([state, attempts, (completedAt ?? 0) - (startedAt ?? 0)]).toEqual(["succeeded", 1, 2000])
    await take(made, 0, 1)
    expect(await read(made)).toEqual(ended)
  })

  it("never starts before its creation, for any reported duration", async () => {
    const made = await makeJob(1, 500)
    await claim(made, 0, 1)
    await receive(made, 0, 1)
    expect((await read(made)).job.startedAt).toBe(made.createdAt)
  })

  it("counts an attempt for each run that a runner took, and for no other", async () => {
    const made = await makeJob(1, 0)
    await claim(made, 0, 1)
    await take(made, 0, 1, 1234)
    await receive(made, 0, 1, interrupted)
    await claim(made, 0, 2)
    expect((await read(made)).job).toMatchObject({ state: "running", attempts: 1 })
    await take(made, 0, 2, 5678)
    expect((await read(made)).job).toMatchObject({ attempts: 2, startedAt: 1234 })
    const { version } = (await read(made)).job
    await take(made, 0, 2, 5678)
    expect((await read(made)).job.version).toBe(version)
  })
})

describe("the wait of a job for a runner", () => {
  it("ends at its limit although the task is claimed", async () => {
    const made = await makeJob(1, WAIT_MS_MAX)
    expect(await isExpired(made)).toBe(true)
    await claim(made, 0, 1)
    expect(await isExpired(made)).toBe(true)
    expect(await isExpired(await makeJob(1, WAIT_MS_MAX - 1000))).toBe(false)
  })

  it("restarts after a lost run, and ends at its limit too", async () => {
    const made = await makeJob(1, 10 * WAIT_MS_MAX)
    await claim(made, 0, 1)
    await take(made, 0, 1, made.createdAt + 1)
    await receive(made, 0, 1, interrupted)
    expect(await isExpired(made)).toBe(false)
    for (const allocation of [2, 3]) {
      await claim(made, 0, allocation)
      await transitionJob(env, { accountId: ACCOUNT, jobId: made.jobId }, (snapshot) =>
        computeRequeueTransition(snapshot, {
          taskId: made.taskIds[0] ?? "",
          fence: allocation,
          cause: "no capacity",
          now: Date.now() + WAIT_MS_MAX / 2,
        }),
      )
    }
    expect(await isExpired(made, WAIT_MS_MAX)).toBe(true)
  })

  it("restarts after the end of another of its tasks", async () => {
    const made = await makeJob(2, 10 * WAIT_MS_MAX)
    await claim(made, 0, 1)
    await take(made, 0, 1, made.createdAt + 1)
    await receive(made, 0, 1)
    expect(await isExpired(made)).toBe(false)
    expect(await isExpired(made, WAIT_MS_MAX)).toBe(true)
  })
})
