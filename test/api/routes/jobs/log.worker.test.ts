import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { TEST_BOOT_ID, startCommandTask } from "../../../support/media/bundle.ts"
import type { RunningTask } from "../../../support/media/bundle.ts"
import { fetchWorker, makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeIncompressibleText } from "../../../support/media/noise.ts"
import { readStoredWebhook } from "../../../support/stored-webhook.ts"

const OUTPUT = { key: "out_1", size_bytes: 3, content_type: "video/mp4" }
const RESULT = { kind: "command", outputs: [OUTPUT] }
const FAILURE = { code: "command_failed", message: "ffmpeg failed.", lines: [] }
const LOG = 'Output #0\n{\n\t"input_i" : "-27.61"\n}\n<script>alert(1)</script> ä\n'

let caller: TestCaller
let stranger: TestCaller

beforeAll(async () => {
  caller = await makeCaller("logs")
  stranger = await makeCaller("a stranger to logs")
})

/** A finished command, with the rest of its runner's report. */
async function end(report: object, webhookUrl: string | null = null): Promise<RunningTask> {
  const task = await startCommandTask(caller, { out_1: "a.mp4" }, { webhookUrl })
  const moment = { boot: TEST_BOOT_ID, at: new Date().toISOString(), processing_seconds: 1 }
  const body = JSON.stringify({ ...moment, ...report })
  const answer = await task.call("/reports", { method: "POST", body })
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  return task
}

async function read(path: string): Promise<Record<string, unknown>> {
  return await (await caller.call(path)).json()
}

describe("the log of a job", () => {
  it.each([
    ["succeeded", { kind: "finished", result: RESULT }, "success"],
    ["failed by its caller", { kind: "failed", blame: "caller", failure: FAILURE }, "failed"],
  ])("of a job that %s is served at the URL in its records", async (_, report, status) => {
    const { jobId } = await end({ ...report, log: LOG })
    const url = `https://lathe.test/v1/jobs/${jobId}/log`
    expect(await read(`/commands/${jobId}`)).toMatchObject({ status, log: url })
    expect(await read(`/jobs/${jobId}`)).toMatchObject({ log: url })
    const answer = await fetchWorker(url, { headers: { "x-api-key": caller.key } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8")
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff")
    expect(answer.headers.get("cache-control")).toContain("no-store")
    expect(await answer.text()).toBe(LOG)
    const head = await caller.call(`/jobs/${jobId}/log`, { method: "HEAD" })
    expect([head.status, await head.text()]).toEqual([200, ""])
  })

  it("leaves the files in the record of a failed job unchanged", async () => {
    const { jobId } = await end({ kind: "failed", blame: "caller", failure: FAILURE, log: LOG })
    expect(await read(`/commands/${jobId}`)).toMatchObject({ output_files: { out_1: "a.mp4" } })
    expect(await read(`/jobs/${jobId}`)).toMatchObject({ outputs: [] })
  })

  it("is in the webhook of the job's end", async () => {
    const report = { kind: "finished", result: RESULT, log: LOG }
    const { jobId } = await end(report, "https://hooks.example/ended")
    const { body } = await readStoredWebhook(jobId)
    expect(JSON.parse(body)).toMatchObject({
      data: { id: jobId, log: `https://lathe.test/v1/jobs/${jobId}/log` },
    })
  })

  it("may be empty", async () => {
    const { jobId } = await end({ kind: "finished", result: RESULT, log: "" })
    const answer = await caller.call(`/jobs/${jobId}/log`)
    expect([answer.status, await answer.text()]).toEqual([200, ""])
  })

  it("has its last 64 KB, in the row of its job if it compresses well", async () => {
    const lines = Array.from({ length: 9000 }, (_, at) => `crop=${at % 100}\n`).join("")
    const { jobId } = await end({ kind: "finished", result: RESULT, log: lines })
    const text = await (await caller.call(`/jobs/${jobId}/log`)).text()
    expect(text).toHaveLength(64 * 1024)
    expect(lines.endsWith(text)).toBe(true)
    const row = env.DB.prepare("select count(*) as n from tasks where job_id = ?")
    expect(await row.bind(jobId).first<number>("n")).toBe(0)
  })

  it("has its last 64 KB, in R2 if its row has no room", async () => {
    const lines = makeIncompressibleText(90_000)
    const { jobId } = await end({ kind: "finished", result: RESULT, log: lines })
    const text = await (await caller.call(`/jobs/${jobId}/log`)).text()
    expect(text).toHaveLength(64 * 1024)
    expect(lines.endsWith(text)).toBe(true)
    const row = env.DB.prepare("select length(result) as n from tasks where job_id = ?")
    expect(await row.bind(jobId).first<number>("n")).toBeLessThan(100)
    expect((await caller.call(`/jobs/${jobId}`, { method: "DELETE" })).status).toBe(200)
    const garbage = env.DB.prepare("select count(*) as n from garbage where prefix like ?")
    expect(await garbage.bind(`%${jobId}%`).first("n")).toBe(1)
  })

  it("is a 404 with the code no_log while it is not written, or if none is kept", async () => {
    const { jobId } = await startCommandTask(caller, { out_1: "a.mp4" })
    const early = await caller.call(`/jobs/${jobId}/log`)
    expect(early.status).toBe(404)
    expect(await early.json()).toMatchObject({
      code: "no_log",
      message: expect.stringContaining("has not ended"),
    })
    const { jobId: silent } = await end({ kind: "finished", result: RESULT })
    expect(await read(`/jobs/${silent}`)).not.toHaveProperty("log")
    const never = await caller.call(`/jobs/${silent}/log`)
    expect([never.status, await never.json()]).toMatchObject([404, { code: "no_log" }])
  })

  it("is deleted with its job, and hidden from other accounts", async () => {
    const { jobId } = await end({ kind: "finished", result: RESULT, log: LOG })
    const path = `/jobs/${jobId}/log`
    expect((await fetchWorker(`/v1${path}`)).status).toBe(401)
    for (const answer of [await stranger.call(path), await caller.call("/jobs/7/log")]) {
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: "not_found" }])
    }
    expect((await caller.call(`/jobs/${jobId}`, { method: "DELETE" })).status).toBe(200)
    const gone = await caller.call(path)
    expect([gone.status, await gone.json()]).toMatchObject([404, { code: "not_found" }])
    const rows = env.DB.prepare("select count(*) as n from tasks where job_id = ?").bind(jobId)
    expect(await rows.first("n")).toBe(0)
  })

  it("of an interrupted run is not kept", async () => {
    const report = { kind: "failed", blame: "ours", failure: { ...FAILURE, code: "internal" } }
    const { jobId } = await end({ ...report, log: LOG })
    const answer = await caller.call(`/jobs/${jobId}/log`)
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: "no_log" }])
  })
})

describe("the standard output of a job", () => {
  const SHORT = "SHA256=0123456789abcdef\n"

  async function readAll(jobId: string) {
    const lists = await Promise.all([read("/commands?limit=1"), read("/jobs?limit=1")])
    const records = await Promise.all([read(`/commands/${jobId}`), read(`/jobs/${jobId}`)])
    return [...records, ...lists.flatMap((list) => Object.values(list))]
  }

  it.each([
    ["succeeded", { kind: "finished", result: RESULT }],
    ["failed by its caller", { kind: "failed", blame: "caller", failure: FAILURE }],
  ])("of a job that %s is in its records and in lists", async (_, report) => {
    const { jobId } = await end({ ...report, log: LOG, stdout: SHORT })
    const shown = await readAll(jobId)
    expect(shown).toHaveLength(4)
    for (const record of shown) expect(record).toMatchObject({ id: jobId, stdout: SHORT })
  })

  it("is in the webhook of the job's end, also where it is long", async () => {
    const stdout = makeIncompressibleText(60_000)
    const report = { kind: "finished", result: RESULT, log: LOG, stdout }
    const { jobId } = await end(report, "https://hooks.example/ended")
    const { bodyObjectKey } = await readStoredWebhook(jobId)
    const stored = await env.MEDIA.get(bodyObjectKey ?? "")
    expect(await stored?.json()).toMatchObject({ data: { id: jobId, stdout } })
  })

  it("is left out of lists and of the row where it is long, and deleted with its job", async () => {
    const lines = makeIncompressibleText(90_000)
    const { jobId } = await end({ kind: "finished", result: RESULT, log: LOG, stdout: lines })
    const [command, job, ...listed] = await readAll(jobId)
    expect(command).toMatchObject({ stdout: lines.slice(-64 * 1024) })
    expect(job).toMatchObject({ stdout: lines.slice(-64 * 1024) })
    expect(listed).toHaveLength(2)
    for (const record of listed) {
      expect(record).toMatchObject({ id: jobId, log: expect.any(String) })
      expect(record).not.toHaveProperty("stdout")
    }
    const row = env.DB.prepare("select length(result) as n from jobs where id = ?").bind(jobId)
    expect(await row.first<number>("n")).toBeLessThan(1000)
    expect((await caller.call(`/jobs/${jobId}`, { method: "DELETE" })).status).toBe(200)
    const garbage = env.DB.prepare("select count(*) as n from garbage where prefix like ?")
    expect(await garbage.bind(`%${jobId}%`).first("n")).toBe(1)
  })

  it("is absent if nothing was written there", async () => {
    const { jobId } = await end({ kind: "finished", result: RESULT, log: LOG })
    for (const record of await readAll(jobId)) expect(record).not.toHaveProperty("stdout")
  })
})
