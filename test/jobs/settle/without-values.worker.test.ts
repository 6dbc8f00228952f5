import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import type { Env } from "../../../src/bindings/env.ts"
import { newId } from "../../../src/platform/ids.ts"
import { endOpenJob, settleTask } from "../../../src/jobs/settle/settle.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { readJobSnapshot } from "../../../src/db/jobs/apply-transition.ts"
import { makeClaimedJob } from "../../support/db/queued-job.ts"

const accountId = newId()

/** Returns an environment in which R2 fails. */
function withoutBucket(): Env {
  function get() {
    return Promise.reject(new Error("R2 does not answer"))
  }
  const faked: object = { ...env, MEDIA: { get } }
  if (!isEnv(faked)) throw new Error("no environment")
  return faked
}

function isEnv(made: object): made is Env {
  return "MEDIA" in made && "DB" in made
}

async function makeLargeJob() {
  const made = await makeClaimedJob(accountId)
  await env.DB.prepare(
    "update jobs set request_object_key = 'large', webhook_url = 'https://x.example/' where id = ?",
  )
    .bind(made.jobId)
    .run()
  return made
}

async function stateOf(jobId: string) {
  return (await readJobSnapshot(openAccountDatabases(env, accountId), jobId))?.job.state
}

it("a job is canceled with its webhook although its large values cannot be read", async () => {
  const { jobId } = await makeLargeJob()
  const failure = { code: "canceled" as const, message: "Canceled.", lines: [] }
  const ended = await endOpenJob(
    withoutBucket(),
    { accountId, jobId },
    { state: "canceled", failure },
  )
  expect(ended).toHaveLength(1)
  expect(await stateOf(jobId)).toBe("canceled")
  const told = env.DB.prepare("select count(*) as n from deliveries where job_id = ?")
  expect(await told.bind(jobId).first("n")).toBe(1)
})

it("a report of success waits until large values can be read", async () => {
  const { jobId, taskId } = await makeLargeJob()
  const run = { accountId, jobId, taskId, fence: 1 }
  const report = { boot: "boot", at: new Date().toISOString(), processing_seconds: 1 }
  const result = { kind: "command", outputs: [] }
  const settled = settleTask(withoutBucket(), run, { ...report, kind: "finished", result })
  await expect(settled).rejects.toThrow("R2 does not answer")
  expect(await stateOf(jobId)).toBe("waiting")
})
