import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import type { FailureCode } from "../../../../src/contract/failure.ts"
import { cancelJob } from "../../../../src/jobs/cancel.ts"
import { sweepDirectly } from "../../../support/sweep.ts"
import { openAccountDatabases } from "../../../../src/db/database.ts"
import { listJobs } from "../../../../src/db/jobs/jobs.ts"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import {
  storeMetadataLookup,
  makeMetadataResult,
  makeVideoMetadata,
} from "../../../support/media/fetched.ts"
import { readProblem } from "../../../support/problem.ts"
import { endOnlyTask } from "../../../support/tasks.ts"
import type { OnlyTaskEnd } from "../../../support/tasks.ts"

const MINUTE_MS = 60_000

let caller: TestCaller
let accountId: string
let lastUrl = 0

beforeAll(async () => {
  caller = await makeCaller("looks up")
  accountId = await findCallerAccountId(caller)
})

function newUrl(): string {
  lastUrl += 1
  return `https://video.example.com/watch?v=${lastUrl}`
}

function get(url: string): Promise<Response> {
  return caller.call(`/fetch/metadata?url=${encodeURIComponent(url)}`)
}

function post(url: unknown): Promise<Response> {
  return caller.post("/fetch/metadata", { url })
}

async function jobsOf(url: string): Promise<{ id: string; state: string }[]> {
  const page = { limit: 100, offset: 0 }
  const jobs = await listJobs(openAccountDatabases(env, accountId), { kind: "metadata" }, page)
  // The account of a finished job is in its result, that of an open job in its task.
  const open = env.DB.prepare(
    "select job_id from tasks where account_id = ? and work ->> 'url' = ?",
  )
  const { results } = await open.bind(accountId, url).all<{ job_id: string }>()
  const ids = new Set(results.map((row) => row.job_id))
  return jobs.filter((job) => {
    return ids.has(job.id) || JSON.stringify(job.result).includes(JSON.stringify(url))
  })
}

/** Returns the open lookup of a URL. */
async function begunOf(url: string): Promise<string> {
  async function open() {
    return (await jobsOf(url)).find(({ state }) => /waiting|running/.test(state))
  }
  await expect.poll(open).toBeDefined()
  return (await open())?.id ?? ""
}

/** Sends a lookup and ends its task with `end`. */
async function lookUp(url: string, end: OnlyTaskEnd): Promise<Response> {
  const asked = get(url)
  await endOnlyTask(accountId, await begunOf(url), end)
  return await asked
}

describe.each([
  ["GET", get],
  ["POST", post],
] as const)("%s /fetch/metadata", (_, ask) => {
  it("answers the metadata of the page after its lookup", async () => {
    const url = newUrl()
    const asked = ask(url)
    await endOnlyTask(accountId, await begunOf(url), { result: makeMetadataResult(url) })
    const answer = await asked
    expect(answer.status).toBe(200)
    expect(answer.headers.get("cache-control")).toMatch(/^private, max-age=(?:5\d|60)$/)
    expect(await answer.json()).toEqual(makeVideoMetadata(url))
  })

  it.each([
    ["a private address", "http://127.0.0.1/", "url_not_allowed"],
    ["an address of the service", "https://lathe.test/v1/files", "url_not_allowed"],
    ["an address that is too long", `https://a.example/${"x".repeat(8192)}`, "invalid_field"],
  ])("refuses %s", async (__, url, code) => {
    const answer = await ask(url)
    expect(answer.status).toBe(422)
    expect((await readProblem(answer)).details).toMatchObject([{ field: "url", code }])
  })
})

it("refuses unknown parameters, and a body without a URL", async () => {
  expect((await caller.call("/fetch/metadata")).status).toBe(422)
  expect((await post(7)).status).toBe(422)
  const unknown = await caller.post("/fetch/metadata", { url: newUrl(), quality: "best" })
  expect((await readProblem(unknown)).details).toMatchObject([{ field: "quality" }])
})

it("answers for a minute without another lookup, whatever the URL's fragment", async () => {
  const url = newUrl()
  await storeMetadataLookup(caller, url)
  expect((await get(`${url}#t=10`)).status).toBe(200)
  expect((await post(url)).status).toBe(200)
  expect(await jobsOf(url)).toHaveLength(1)
  await env.DB.prepare("update jobs set completed_at = completed_at - ? where kind = 'metadata'")
    .bind(MINUTE_MS)
    .run()
  expect((await lookUp(url, { result: makeMetadataResult(url) })).status).toBe(200)
  expect(await jobsOf(url)).toHaveLength(2)
})

it("runs one lookup for concurrent requests of an account, and one per account", async () => {
  const url = newUrl()
  const asked = Array.from({ length: 5 }, (_, index) => (index % 2 === 0 ? get(url) : post(url)))
  const jobId = await begunOf(url)
  asked.push(get(url))
  await scheduler.wait(100)
  expect(await jobsOf(url)).toHaveLength(1)
  await endOnlyTask(accountId, jobId, { result: makeMetadataResult(url) })
  for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200)
  expect(await jobsOf(url)).toHaveLength(1)
  const stranger = await makeCaller("looks up the same")
  const theirs = await findCallerAccountId(stranger)
  const path = `/fetch/metadata?url=${encodeURIComponent(url)}`
  const asking = stranger.call(path)
  const found = env.DB.prepare("select id from jobs where account_id = ?").bind(theirs)
  await expect.poll(() => found.first("id")).not.toBeNull()
  await endOnlyTask(theirs, (await found.first<string>("id")) ?? "", {
    result: makeMetadataResult(url),
  })
  expect((await asking).status).toBe(200)
})

describe("a failed lookup", () => {
  const message = "The site said no."

  it.each<FailureCode>([
    "not_found",
    "login_required",
    "geo_blocked",
    "live_stream",
    "unsupported_site",
    "playlist_not_supported",
    "drm_protected",
    "too_large",
    "url_not_allowed",
  ])("with %s gets a 422 that names the URL", async (code) => {
    const answer = await lookUp(newUrl(), { failure: { code, message } })
    expect(answer.status).toBe(422)
    expect((await readProblem(answer)).details).toEqual([{ field: "url", code, message }])
  })

  it.each<FailureCode>([
    "rate_limited_by_site",
    "site_changed",
    "server_error",
    "connection_failed",
    "incomplete",
    "too_many_redirects",
  ])("with %s gets a 502 with this code", async (code) => {
    const answer = await lookUp(newUrl(), { failure: { code, message } })
    expect(answer.status).toBe(502)
    expect(await readProblem(answer)).toMatchObject({ code, message })
  })

  it.each<[FailureCode, number, string]>([
    ["too_slow", 504, "too_slow"],
    ["time_limit", 504, "too_slow"],
    ["runner_lost", 503, "overloaded"],
    ["out_of_memory", 500, "internal"],
  ])("with %s gets a %i %s", async (code, status, told) => {
    const answer = await lookUp(newUrl(), { failure: { code, message } })
    expect(answer.status).toBe(status)
    expect(await readProblem(answer)).toMatchObject({ code: told })
  })

  it("is repeated for the next request", async () => {
    const url = newUrl()
    await lookUp(url, { failure: { code: "server_error", message: "It is broken." } })
    expect((await lookUp(url, { result: makeMetadataResult(url) })).status).toBe(200)
    expect((await get(url)).status).toBe(200)
  })

  it("is too_slow if its job was canceled by another waiting request", async () => {
    const url = newUrl()
    const asked = get(url)
    await cancelJob(env, accountId, await begunOf(url))
    const answer = await asked
    expect(answer.status).toBe(504)
    expect(await readProblem(answer)).toMatchObject({ code: "too_slow" })
  })
})

describe("the job of a lookup", () => {
  it("is hidden from callers", async () => {
    const url = newUrl()
    await storeMetadataLookup(caller, url)
    const [{ id } = { id: "" }] = await jobsOf(url)
    const ways = [
      ["GET", `/jobs/${id}`],
      ["DELETE", `/jobs/${id}`],
      ["GET", `/jobs/${id}/events`],
      ["POST", `/jobs/${id}/cancel`],
      ["POST", `/jobs/${id}/retry`],
      ["GET", `/fetch/${id}`],
      ["DELETE", `/fetch/${id}`],
      ["GET", `/fetch/${id}/media`],
      ["GET", `/commands/${id}`],
    ] as const
    for (const [method, path] of ways) {
      const answer = await caller.call(path, { method })
      expect([method, path, answer.status]).toEqual([method, path, 404])
      await answer.body?.cancel()
    }
    expect(await (await caller.call("/jobs")).json()).toEqual([])
    expect((await caller.call("/jobs?kind=metadata")).status).toBe(422)
    expect(await (await caller.call("/fetch")).json()).toEqual([])
  })

  it("has a shorter time limit than its caller's wait, whatever the plan allows", async () => {
    const url = newUrl()
    const asked = get(url)
    const jobId = await begunOf(url)
    const work = env.DB.prepare("select work from tasks where job_id = ?").bind(jobId)
    expect(JSON.parse((await work.first<string>("work")) ?? "")).toEqual({
      kind: "metadata",
      url,
      run_seconds_max: 25,
    })
    await endOnlyTask(accountId, jobId, { result: makeMetadataResult(url) })
    await asked
  })

  it("is removed by the sweep some minutes later, even if it was left open", async () => {
    const [url, left] = [newUrl(), newUrl()]
    await storeMetadataLookup(caller, url)
    const asked = get(left)
    const open = await begunOf(left)
    for (let swept = 0; swept < 2; swept += 1) await sweepDirectly(env, Date.now() + 6 * MINUTE_MS)
    expect((await asked).status).toBe(504)
    for (const query of [
      "select count(*) as n from jobs where kind = 'metadata'",
      "select count(*) as n from metadata_lookups",
      `select count(*) as n from tasks where job_id = '${open}'`,
    ]) {
      expect([query, await env.DB.prepare(query).first("n")]).toEqual([query, 0])
    }
  })

  it("is answered from its row alone, even if it is large", async () => {
    const url = newUrl()
    const { metadata } = makeMetadataResult(url)
    const asked = get(url)
    const description = "x".repeat(10_000)
    const uploader = "y".repeat(10_000)
    const thumbnail = "z".repeat(10_000)
    const title = "t".repeat(10_000)
    const large = { ...metadata, description, uploader, thumbnail, title }
    const jobId = await begunOf(url)
    await endOnlyTask(accountId, jobId, { result: { kind: "metadata", metadata: large } })
    expect(await (await asked).json()).toEqual(large)
    const row = env.DB.prepare("select result_object_key as k from jobs where id = ?").bind(jobId)
    expect(await row.first("k")).toBeNull()
  })
})
