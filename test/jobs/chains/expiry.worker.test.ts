import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, expect, it } from "vitest"
import { newId } from "../../../src/platform/ids.ts"
import { getDispatcher } from "../../../src/bindings/durable-objects.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { createCopy, endCopy } from "../../support/chains.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { readJob } from "../../support/runner/stand-in-runner.ts"

const DAY_MS = 24 * 3_600_000

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`expiry of chains ${newId()}`)
  accountId = await findCallerAccountId(caller)
})

/** Moves the creation of a job into the past, in D1 and in the queue of its dispatcher. */
async function age(jobId: string, byMs: number): Promise<void> {
  const dispatcher = getDispatcher(env, accountId)
  await dispatcher.accept(accountId, [])
  await env.DB.batch(
    [
      "update jobs set created_at = created_at - ? where id = ?",
      "update tasks set created_at = created_at - ? where job_id = ?",
    ].map((statement) => env.DB.prepare(statement).bind(byMs, jobId)),
  )
  await runInDurableObject(env.DISPATCHER.getByName(accountId), (_, { storage }) => {
    storage.sql.exec(
      "update queued_tasks set waits_since = waits_since - ? where job_id = ?",
      byMs,
      jobId,
    )
  })
}

async function ageInputs(jobId: string, byMs: number): Promise<void> {
  await env.DB.prepare("update files set completed_at = completed_at - ? where job_id = ?")
    .bind(byMs, jobId)
    .run()
}

async function stateOf(jobId: string) {
  const { job } = await readJob(accountId, jobId)
  return { state: job.state, errorCode: job.errorCode }
}

it("a job does not expire while it waits for another job, and expires a day after its inputs came", async () => {
  const needed = await createCopy(caller)
  const id = await createCopy(caller, [needed])
  await age(id, 3 * DAY_MS)
  await getDispatcher(env, accountId).tick(accountId)
  expect(await stateOf(id)).toEqual({ state: "waiting", errorCode: null })
  await endCopy(accountId, needed)
  await age(id, 3 * DAY_MS)
  await getDispatcher(env, accountId).tick(accountId)
  expect(await stateOf(id)).toEqual({ state: "waiting", errorCode: null })
  await age(id, 3 * DAY_MS)
  await ageInputs(needed, 2 * DAY_MS)
  await getDispatcher(env, accountId).tick(accountId)
  expect(await stateOf(id)).toEqual({ state: "failed", errorCode: "expired" })
})
