import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { newId } from "../../src/platform/ids.ts"
import { makeCaller } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"
import { createBatchOfCopies, createCopy, endCopy, makeCopyBody } from "../support/chains.ts"
import { findCallerAccountId } from "../support/media/bundle.ts"
import { makeFetchResult } from "../support/media/fetched.ts"
import { claimAndEndTask, findTaskByKind, readJob } from "../support/runner/stand-in-runner.ts"
import { sweepDirectly } from "../support/sweep.ts"

const DAY_MS = 24 * 3_600_000
const EXPIRES_IN = 60

const KEPT_SHORTLY = { expires_in: EXPIRES_IN }

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`awaited files ${newId()}`)
  accountId = await findCallerAccountId(caller)
})

/** Returns the number of stored outputs of a job, whether or not its row still exists. */
async function countStoredFiles(jobId: string): Promise<number> {
  const { results } = await env.DB.prepare(
    "select object_key as name from files where job_id = ? and object_key is not null",
  )
    .bind(jobId)
    .all<{ name: string }>()
  const stored = await Promise.all(results.map(({ name }) => env.MEDIA.head(name)))
  return stored.filter((object) => object !== null).length
}

async function hasRow(jobId: string): Promise<boolean> {
  return (await env.DB.prepare("select 1 from jobs where id = ?").bind(jobId).first()) !== null
}

/** Creates a job that waits for two others, the first of which has ended. */
async function makeWaitingJob(changes: Record<string, unknown> = {}) {
  const first = await createCopy(caller, [], changes)
  const second = await createCopy(caller)
  const id = await createCopy(caller, [first, second])
  await endCopy(accountId, first)
  return { first, second, id }
}

const RETENTIONS: [string, Record<string, unknown>, typeof env, number][] = [
  ["expires_in", { expires_in: EXPIRES_IN }, env, EXPIRES_IN * 1000],
  ["RETENTION_DAYS", {}, { ...env, RETENTION_DAYS: "10" }, 10 * DAY_MS],
]

describe.each(RETENTIONS)("%s", (_, changes, settings, keptMs) => {
  it("keeps an output for a waiting and for a running job, and removes it afterwards", async () => {
    const { first, second, id } = await makeWaitingJob(changes)
    const later = Date.now() + keptMs + 1
    await sweepDirectly(settings, later)
    expect([await hasRow(first), await countStoredFiles(first)]).toEqual([true, 1])
    await endCopy(accountId, second)
    await env.DB.prepare("update tasks set state = 'running' where job_id = ?").bind(id).run()
    await sweepDirectly(settings, later)
    expect([await hasRow(first), await countStoredFiles(first)]).toEqual([true, 1])
    await endCopy(accountId, id)
    await sweepDirectly(settings, later)
    expect([await hasRow(first), await countStoredFiles(first)]).toEqual([false, 0])
  })
})

it("the default retention of jobs keeps the job of an output that another job waits for", async () => {
  const { first, second, id } = await makeWaitingJob()
  const later = Date.now() + 91 * DAY_MS
  await sweepDirectly(env, later)
  expect(await hasRow(first)).toBe(true)
  await endCopy(accountId, second)
  await endCopy(accountId, id)
  await sweepDirectly(env, later)
  expect(await hasRow(first)).toBe(false)
})

it("fetched media stay stored until the job that waits for them has read them", async () => {
  const answer = await caller.post("/fetch", { url: "https://video.example.com/watch?v=1" })
  const { fetch_id: fetched } = z.object({ fetch_id: z.string() }).parse(await answer.json())
  const second = await createCopy(caller)
  const body = makeCopyBody([`svc_id://${fetched}/file`, `svc_id://${second}/out_1`])
  const created = await caller.post("/commands", body)
  expect(created.status).toBe(202)
  const { command_id: id } = z.object({ command_id: z.string() }).parse(await created.json())
  const task = await findTaskByKind(accountId, fetched, "fetch")
  await claimAndEndTask(task, { result: makeFetchResult([]) })
  const { files } = await readJob(accountId, fetched)
  for (const { objectKey } of files) if (objectKey) await env.MEDIA.put(objectKey, "x")
  const later = Date.now() + 8 * DAY_MS
  await sweepDirectly(env, later)
  expect(await countStoredFiles(fetched)).toBe(1)
  await endCopy(accountId, second)
  await endCopy(accountId, id)
  await sweepDirectly(env, later)
  expect(await countStoredFiles(fetched)).toBe(0)
})

it("a job of a batch is kept until the batch ends", async () => {
  const { jobs } = await createBatchOfCopies(caller, { first: [], second: [] }, KEPT_SHORTLY)
  const { first = "", second = "" } = jobs
  await endCopy(accountId, first)
  const later = Date.now() + EXPIRES_IN * 1000 + 1
  await sweepDirectly(env, later)
  expect(await hasRow(first)).toBe(true)
  await endCopy(accountId, second)
  await sweepDirectly(env, later + 10)
  expect(await hasRow(first)).toBe(false)
})
