import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { newId } from "../../../../src/platform/ids.ts"
import { LIMIT_FIELDS } from "../../../../src/domain/plan-fields.ts"
import { PLAN_LIMITS } from "../../../../src/domain/plans.ts"
import { settleTask } from "../../../../src/jobs/settle/settle.ts"
import { sweepDirectly } from "../../../support/sweep.ts"
import { makeClaimedJob } from "../../../support/db/queued-job.ts"
import { makeCaller, uploadTestFile } from "../../../support/caller.ts"
import { findCallerAccountId, startCommandTask } from "../../../support/media/bundle.ts"
import {
  makeFetchResult,
  finishFetch,
  storeMetadataLookup,
} from "../../../support/media/fetched.ts"
import { endOnlyTask } from "../../../support/tasks.ts"
import { makeLimitedCaller } from "../../../support/accounts/limited-caller.ts"
import { readProblem } from "../../../support/problem.ts"

const DAY_MS = 24 * 3_600_000
const TODAY = new Date().toISOString().slice(0, 10)

function dayAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
}

async function addUsage(accountId: string, rows: [day: string, keyId: string, requests: number][]) {
  const insert = env.DB.prepare(
    "insert into usage_days (account_id, day, key_id, requests) values (?, ?, ?, ?)",
  )
  await env.DB.batch(rows.map((row) => insert.bind(accountId, ...row)))
}

it("limits and usage of an idle account have the same names", async () => {
  const caller = await makeLimitedCaller("idle", { storageBytesMax: 77 })
  const body = await (await caller.call("/account")).json<Record<string, object>>()
  expect(body).toEqual({
    id: caller.accountId,
    name: "idle",
    plan: caller.plan,
    limits: {
      requests_per_minute: PLAN_LIMITS.trial.requestsPerMinute,
      running_jobs: PLAN_LIMITS.trial.runningJobsMax,
      waiting_jobs: PLAN_LIMITS.trial.waitingJobsMax,
      file_bytes: PLAN_LIMITS.trial.fileBytesMax,
      input_bytes: PLAN_LIMITS.trial.inputBytesMax,
      run_seconds: 300,
      storage_bytes: 77,
      fetches_per_day: PLAN_LIMITS.trial.fetchesPerDay,
      link_seconds: PLAN_LIMITS.trial.linkSecondsMax,
      upload_body_bytes: 100_000_000,
    },
    usage: {
      requests_per_minute: 1,
      running_jobs: 0,
      waiting_jobs: 0,
      file_bytes: null,
      input_bytes: null,
      run_seconds: null,
      storage_bytes: 0,
      fetches_per_day: 0,
      link_seconds: null,
      upload_body_bytes: null,
    },
  })
  const names = [...Object.keys(LIMIT_FIELDS), "upload_body_bytes"]
  expect(Object.keys(body["limits"] ?? {})).toEqual(names)
})

it("the built-in plans have a finite run time", async () => {
  const caller = await makeCaller("paid-run-time", "paid")
  const answer = await (await caller.call("/account")).json()
  expect(answer).toMatchObject({ plan: "paid", limits: { run_seconds: 1800 } })
})

it("usage counts stored bytes, fetches, waiting and running jobs, and requests of this minute", async () => {
  const caller = await makeLimitedCaller("busy", {})
  await uploadTestFile(caller, "a.txt", "12345")
  await caller.post("/fetch", { url: "https://media.example/a" })
  await makeClaimedJob(caller.accountId)
  await env.DB.prepare(
    "update jobs set state = 'running' where account_id = ? and kind = 'command'",
  )
    .bind(caller.accountId)
    .run()
  expect(await (await caller.call("/account")).json()).toMatchObject({
    usage: {
      requests_per_minute: 3,
      running_jobs: 1,
      waiting_jobs: 2,
      storage_bytes: 5,
      fetches_per_day: 1,
    },
  })
})

it("a job counts once, on the day of its end, for the key that created it", async () => {
  const caller = await makeCaller("ended")
  const accountId = await findCallerAccountId(caller)
  const bodies = ["a", "b", "c"].map((name) => ({ url: `https://media.example/${name}` }))
  const ids: string[] = []
  for (const body of bodies) {
    const { fetch_id } = await (await caller.post("/fetch", body)).json<{ fetch_id: string }>()
    ids.push(fetch_id)
  }
  const [done = "", failed = "", canceled = ""] = ids
  await finishFetch(caller, done, makeFetchResult())
  const failure = { code: "server_error" as const, message: "It is broken." }
  await endOnlyTask(accountId, failed, { failure })
  await caller.post(`/jobs/${canceled}/cancel`, {})
  await caller.post(`/jobs/${canceled}/cancel`, {})
  await storeMetadataLookup(caller, "https://media.example/looked-up")
  const used = await (await caller.call("/account/usage")).json()
  expect(used).toMatchObject([
    {
      day: TODAY,
      key_id: caller.id,
      jobs: 3,
      fetches: 3,
      succeeded_jobs: 1,
      failed_jobs: 2,
      processing_seconds: 2,
    },
  ])
})

it("a repeated report of an end counts once, even concurrently", async () => {
  const caller = await makeCaller("reports twice")
  const run = await startCommandTask(caller, { out_1: "a.mp4" })
  const outputs = [{ key: "out_1", size_bytes: 3, content_type: "video/mp4" }]
  const report = {
    kind: "finished" as const,
    boot: "boot",
    at: new Date().toISOString(),
    processing_seconds: 1.5,
    result: { kind: "command", outputs },
  }
  await Promise.all(Array.from({ length: 6 }, () => settleTask(env, run, report)))
  await settleTask(env, run, report)
  const rows = await (await caller.call("/account/usage")).json<{ key_id: string | null }[]>()
  expect(rows.filter(({ key_id }) => key_id === null)).toMatchObject([
    { succeeded_jobs: 1, failed_jobs: 0, processing_seconds: 1.5 },
  ])
})

it("usage is listed by day and key, newest day first, without other accounts", async () => {
  const caller = await makeCaller("lister")
  const accountId = await findCallerAccountId(caller)
  const gone = newId()
  await env.DB.prepare("update keys set name = 'deploy' where id = ?").bind(caller.id).run()
  await addUsage(await findCallerAccountId(await makeCaller("someone else")), [[dayAgo(1), "", 9]])
  await addUsage(accountId, [
    [dayAgo(1), caller.id, 1],
    [dayAgo(1), "", 2],
    [dayAgo(29), gone, 3],
    [dayAgo(30), gone, 4],
    [dayAgo(365), gone, 5],
  ])
  async function list(query: string) {
    const answer = await caller.call(`/account/usage${query}`)
    const rows = await answer.json<{ day: string; requests: number }[]>()
    return rows.filter(({ day }) => day !== dayAgo(0))
  }
  const zeros = { jobs: 0, fetches: 0, succeeded_jobs: 0, failed_jobs: 0, processing_seconds: 0 }
  expect(await list("")).toEqual([
    { day: dayAgo(1), key_id: null, key_name: null, requests: 2, ...zeros },
    { day: dayAgo(1), key_id: caller.id, key_name: "deploy", requests: 1, ...zeros },
    { day: dayAgo(29), key_id: gone, key_name: null, requests: 3, ...zeros },
  ])
  expect((await list("?days=2")).map(({ requests }) => requests)).toEqual([2, 1])
  expect(await list("?days=1")).toEqual([])
  expect((await list("?days=366")).map(({ requests }) => requests)).toEqual([2, 1, 3, 4, 5])
})

it.each(["0", "367", "1000", "-1", "1.5", "", "x", "01"])("refuses %j days", async (days) => {
  const caller = await makeCaller(`asks for ${days} days`)
  const { code_name, details } = await readProblem(await caller.call(`/account/usage?days=${days}`))
  expect([code_name, details[0]?.field]).toEqual(["unprocessable", "days"])
})

it("usage is kept for 400 days", async () => {
  const caller = await makeCaller("long ago")
  const accountId = await findCallerAccountId(caller)
  await addUsage(accountId, [
    [dayAgo(401), "", 1],
    [dayAgo(400), "", 2],
  ])
  await sweepDirectly(env, Date.now())
  const left = env.DB.prepare(
    "select requests from usage_days where account_id = ? and key_id = '' and day < ?",
  )
  expect((await left.bind(accountId, dayAgo(1)).all()).results).toEqual([{ requests: 2 }])
})
