import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { resumableUploadResponseSchema } from "../../src/contract/resumable-upload.ts"
import { endOpenJob } from "../../src/jobs/settle/settle.ts"
import { sweepDirectly } from "../support/sweep.ts"
import { makeAttemptKeyPrefix } from "../../src/domain/object-keys.ts"
import { startCommandTask } from "../support/media/bundle.ts"
import type { RunningTask } from "../support/media/bundle.ts"
import { makeCaller } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"

const canceled = { code: "canceled" as const, message: "Canceled.", lines: [] }

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("resumable")
})

/** Starts a task with a stored part of an output, which later runs may continue. */
async function startUpload(): Promise<RunningTask> {
  const task = await startCommandTask(caller, { out_1: "a.bin" })
  const begin = JSON.stringify({ validator: "v", content_type: "video/mp4" })
  const path = "/outputs/out_1/resumable"
  const answer = await task.call(path, { method: "POST", body: begin })
  const begun = resumableUploadResponseSchema.parse(await answer.json())
  if ("stored_bytes" in begun) throw new Error("it is complete")
  const part = `${path}/parts/1?upload_id=${encodeURIComponent(begun.upload_id)}`
  const headers = { "content-length": "4" }
  const stored = await task.call(part, { method: "PUT", headers, body: "part" })
  if (!stored.ok) throw new Error(await stored.text())
  return task
}

async function garbageOf({ taskId }: RunningTask): Promise<unknown[]> {
  const query = env.DB.prepare("select prefix from garbage where prefix like ? order by prefix")
  return (await query.bind(`%/${taskId}/%`).all()).results.map(({ prefix }) => prefix)
}

async function countUploads({ taskId }: RunningTask): Promise<unknown> {
  const parts = "(select count(*) from upload_parts where upload_id = uploads.id)"
  const query = env.DB.prepare(
    `select count(*) as uploads, sum(${parts}) as parts from uploads where task_id = ?`,
  )
  return await query.bind(taskId).first()
}

function prefixes({ accountId, taskId }: RunningTask, fences: number[]): string[] {
  return fences.map((fence) => makeAttemptKeyPrefix(accountId, { taskId, fence }))
}

describe("a resumable upload", () => {
  it("is aborted by the sweep after its job ended without success", async () => {
    const task = await startUpload()
    expect(await countUploads(task)).toEqual({ uploads: 1, parts: 1 })
    await endOpenJob(env, task, { state: "canceled", failure: canceled })
    expect(await garbageOf(task)).toEqual(prefixes(task, [0, 1]))
    await sweepDirectly(env, Date.now())
    expect(await countUploads(task)).toEqual({ uploads: 0, parts: null })
    const late = await task.call("/outputs/out_1/resumable", { method: "POST", body: "{}" })
    expect(late.status).toBe(410)
  })

  it("is kept while its task waits for its next run", async () => {
    const task = await startUpload()
    const report = { kind: "interrupted", boot: "boot", at: new Date().toISOString() }
    const body = JSON.stringify({ ...report, processing_seconds: 1 })
    expect((await task.call("/reports", { method: "POST", body })).status).toBe(200)
    expect(await garbageOf(task)).toEqual(prefixes(task, [1]))
    await sweepDirectly(env, Date.now())
    expect(await countUploads(task)).toEqual({ uploads: 1, parts: 1 })
  })

  it("leaves nothing if its task finished without it", async () => {
    const task = await startUpload()
    const headers = { "content-length": "3" }
    await task.call("/outputs/out_1", { method: "PUT", headers, body: "all" })
    const output = { key: "out_1", size_bytes: 3, content_type: "video/mp4" }
    expect((await task.finish([output])).status).toBe(200)
    expect(await garbageOf(task)).toEqual([])
    // The sweep removes the remaining upload as abandoned a day later.
    await sweepDirectly(env, Date.now() + 25 * 3_600_000)
    expect(await countUploads(task)).toEqual({ uploads: 0, parts: null })
  })

  it("becomes garbage as a whole if its file was deleted meanwhile", async () => {
    const task = await startUpload()
    await env.DB.prepare("delete from files where job_id = ?").bind(task.jobId).run()
    const output = { key: "out_1", size_bytes: 3, content_type: "video/mp4" }
    expect((await task.finish([output])).status).toBe(200)
    expect(await garbageOf(task)).toEqual(prefixes(task, [0, 1]))
  })
})
