import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import type { Env } from "../../../src/env.ts"
import { newId } from "../../../src/ids.ts"
import { progressOf } from "../../../src/pipeline/jobs/wait.ts"
import { databaseOf } from "../../../src/storage/database.ts"
import { findJob } from "../../../src/storage/jobs.ts"
import { makeQueuedJob } from "../../support/queued-job.ts"

function withoutDispatchers(): Env {
  function getByName() {
    return { progressOf: () => Promise.reject(new Error("the object was reset")) }
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
  expect(await progressOf(withoutDispatchers(), job)).toBeNull()
})
