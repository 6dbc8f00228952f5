import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import type { Env } from "../../../src/env.ts"
import { newId } from "../../../src/ids.ts"
import { progressOf, progressOfJobs } from "../../../src/pipeline/jobs/wait.ts"
import type { Progress } from "../../../src/rpc.ts"
import { databaseOf } from "../../../src/storage/database.ts"
import { findJob } from "../../../src/storage/jobs.ts"
import { makeQueuedJob } from "../../support/queued-job.ts"

function withDispatchers(progressOfJobs: (ids: string[]) => Promise<Map<string, Progress>>): Env {
  function getByName() {
    return { progressOfJobs }
  }
  const faked: object = { ...env, DISPATCHER: { getByName } }
  if (!isEnv(faked)) throw new Error("no environment")
  return faked
}

function isEnv(made: object): made is Env {
  return "DISPATCHER" in made && "DB" in made
}

it("an accepted job is shown, without its progress, where its dispatcher cannot be reached", async () => {
  const accountId = newId()
  const { jobId } = await makeQueuedJob(accountId)
  const job = await findJob(databaseOf(env, accountId), jobId)
  if (!job) throw new Error("no job")
  const lost = withDispatchers(() => Promise.reject(new Error("the object was reset")))
  expect(await progressOf(lost, job)).toBeNull()
})

it("the progress of many jobs is asked in one call, and of none that are over in no call", async () => {
  const accountId = newId()
  const { jobId } = await makeQueuedJob(accountId)
  const job = await findJob(databaseOf(env, accountId), jobId)
  if (!job) throw new Error("no job")
  const calls: string[][] = []
  const counted = withDispatchers(async (ids) => {
    calls.push(ids)
    return new Map(ids.map((id) => [id, { percent: 5 }]))
  })
  const over = { ...job, id: newId(), state: "failed" as const }
  const other = { ...job, id: newId() }
  const progress = await progressOfJobs(counted, [job, over, other])
  expect([...progress.keys()]).toEqual([job.id, other.id])
  expect(calls).toEqual([[job.id, other.id]])
  expect((await progressOfJobs(counted, [over])).size).toBe(0)
  expect(calls).toHaveLength(1)
})
