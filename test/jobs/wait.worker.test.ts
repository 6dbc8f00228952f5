import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import type { Env } from "../../src/bindings/env.ts"
import { newId } from "../../src/platform/ids.ts"
import { readProgress, readProgressOfJobs } from "../../src/jobs/wait.ts"
import type { Progress } from "../../src/domain/progress.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { findJob } from "../../src/db/jobs/jobs.ts"
import { makeQueuedJob } from "../support/db/queued-job.ts"

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

it("an accepted job is shown without its progress if its dispatcher cannot be reached", async () => {
  const accountId = newId()
  const { jobId } = await makeQueuedJob(accountId)
  const job = await findJob(openAccountDatabases(env, accountId), jobId)
  if (!job) throw new Error("no job")
  const lost = withDispatchers(() => Promise.reject(new Error("the object was reset")))
  expect(await readProgress(lost, job)).toBeNull()
})

it("the progress of many jobs takes one call, and that of finished jobs none", async () => {
  const accountId = newId()
  const { jobId } = await makeQueuedJob(accountId)
  const job = await findJob(openAccountDatabases(env, accountId), jobId)
  if (!job) throw new Error("no job")
  const calls: string[][] = []
  const counted = withDispatchers(async (ids) => {
    calls.push(ids)
    return new Map(ids.map((id) => [id, { percent: 5 }]))
  })
  const over = { ...job, id: newId(), state: "failed" as const }
  const other = { ...job, id: newId() }
  const progress = await readProgressOfJobs(counted, [job, over, other])
  expect([...progress.keys()]).toEqual([job.id, other.id])
  expect(calls).toEqual([[job.id, other.id]])
  expect((await readProgressOfJobs(counted, [over])).size).toBe(0)
  expect(calls).toHaveLength(1)
})
