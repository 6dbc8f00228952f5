import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { collectGarbage } from "../../src/objects/collect-garbage.ts"
import { openDirectory } from "../../src/db/database.ts"
import { sweepDirectly } from "../support/sweep.ts"
import { findCallerAccountId } from "../support/media/bundle.ts"
import { makeCaller, uploadTestFile } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"
import { makeFormFile, postNormalizeForm } from "../support/media/kind-upload.ts"
import { countAccountData, NO_ACCOUNT_DATA } from "../support/left-over.ts"

const DAY_MS = 24 * 3_600_000
const KEPT_SECONDS = 3600

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`expiry ${crypto.randomUUID()}`)
  accountId = await findCallerAccountId(caller)
})

/** Ends a job successfully with all its files stored; returns the time. */
async function end(jobId: string, completedAt = Date.now()): Promise<number> {
  const { results } = await env.DB.prepare(
    "select id from files where job_id = ? and object_key is null",
  )
    .bind(jobId)
    .all<{ id: string }>()
  for (const { id } of results) {
    const key = `${accountId}/made/${id}/media`
    await env.MEDIA.put(key, "x")
    await env.DB.prepare("update files set object_key = ? where id = ?").bind(key, id).run()
  }
  await env.DB.batch([
    env.DB.prepare("update tasks set state = 'succeeded' where job_id = ?").bind(jobId),
    env.DB.prepare("update files set state = 'succeeded', completed_at = ? where job_id = ?").bind(
      completedAt,
      jobId,
    ),
    env.DB.prepare("update jobs set state = 'succeeded', completed_at = ? where id = ?").bind(
      completedAt,
      jobId,
    ),
  ])
  return completedAt
}

/** Creates a normalization with an uploaded file. */
async function normalize(...fields: [string, string][]): Promise<string> {
  const answer = await postNormalizeForm(caller, [["file", makeFormFile()], ...fields])
  expect(answer.status).toBe(202)
  return (await answer.json<{ normalization_id: string }>()).normalization_id
}

async function read(path: string): Promise<Record<string, unknown>> {
  const answer = await caller.call(path)
  return answer.status === 200 ? await answer.json() : { gone: answer.status }
}

/** Returns the remaining rows and objects of an account after two collections of garbage. */
async function left(now: number) {
  await collectGarbage(env, openDirectory(env), now)
  await collectGarbage(env, openDirectory(env), now + DAY_MS)
  return await countAccountData(accountId)
}

describe("a job with expires_in", () => {
  it("is removed after that time, with its outputs and inputs of its own", async () => {
    const id = await normalize(["expires_in", String(KEPT_SECONDS)])
    expect(await read(`/normalize/${id}`)).not.toHaveProperty("expires_at")
    const endedAt = await end(id)
    const expiresAt = endedAt + KEPT_SECONDS * 1000
    const expires_at = new Date(expiresAt).toISOString()
    expect(await read(`/normalize/${id}`)).toMatchObject({ expires_at })
    expect(await read(`/jobs/${id}`)).toMatchObject({ expires_at })
    const files = await (await caller.call("/files")).json<{ id: string; expires_at: string }[]>()
    expect(files.map((file) => file.expires_at)).toEqual([expires_at, expires_at])
    await sweepDirectly(env, expiresAt - 1)
    expect(await read(`/normalize/${id}`)).toMatchObject({ expires_at })
    await sweepDirectly(env, expiresAt)
    expect(await read(`/normalize/${id}`)).toEqual({ gone: 404 })
    for (const file of files) expect(await read(`/files/${file.id}`)).toEqual({ gone: 404 })
    expect(await left(expiresAt)).toEqual(NO_ACCOUNT_DATA)
  })

  it("stays while it is open, and so do all jobs without expires_in", async () => {
    const open = await normalize(["expires_in", "60"])
    const kept = await normalize()
    const endedAt = await end(kept)
    await sweepDirectly(env, endedAt + 30 * DAY_MS)
    expect(await read(`/jobs/${open}`)).toMatchObject({ status: "queued" })
    expect(await read(`/jobs/${kept}`)).toMatchObject({ status: "completed" })
    expect(await read(`/jobs/${kept}`)).not.toHaveProperty("expires_at")
    expect(await countAccountData(accountId)).toMatchObject({ files: 4, jobs: 2 })
  })

  it("keeps its row for that time, even if other rows are removed before", async () => {
    const kept = await normalize(["expires_in", String(200 * 86_400)])
    const endedAt = await end(kept)
    await sweepDirectly(env, endedAt + 199 * DAY_MS)
    expect(await read(`/jobs/${kept}`)).toMatchObject({ status: "completed" })
    await sweepDirectly(env, endedAt + 200 * DAY_MS)
    expect(await read(`/jobs/${kept}`)).toEqual({ gone: 404 })
  })

  it("keeps its retention in a retry", async () => {
    const { id } = await uploadTestFile(caller, "a.wav", "x")
    await end(id)
    const created = await caller.post("/commands", { ...copyOf(id), expires_in: 120 })
    const { command_id } = await created.json<{ command_id: string }>()
    await end(command_id)
    const again = await caller.call(`/jobs/${command_id}/retry`, { method: "POST" })
    expect(again.status).toBe(202)
    const { id: againId } = await again.json<{ id: string }>()
    const endedAt = await end(againId)
    const expires_at = new Date(endedAt + 120_000).toISOString()
    expect(await read(`/jobs/${againId}`)).toMatchObject({ expires_at })
    // The input was uploaded before, and is not the job's.
    await sweepDirectly(env, endedAt + 120_000)
    expect(await read(`/files/${id}`)).toMatchObject({ id })
  })

  it("frees its Idempotency-Key", async () => {
    async function send(): Promise<string> {
      const answer = await caller.call("/fetch", {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": "once" },
        body: JSON.stringify({ url: "https://a.example/", expires_in: 60 }),
      })
      expect(answer.status).toBe(202)
      return (await answer.json<{ fetch_id: string }>()).fetch_id
    }
    const first = await send()
    const endedAt = await end(first)
    expect(await send()).toBe(first)
    await sweepDirectly(env, endedAt + 60_000)
    expect(await send()).not.toBe(first)
  })
})

describe("a file with expires_in", () => {
  it("is removed that time after it was stored and probed, as its record shows", async () => {
    const body = new FormData()
    body.append("file", new File(["x"], "a.wav"))
    body.append("expires_in", "60")
    const answer = await caller.call("/files", { method: "POST", body })
    expect(answer.status).toBe(201)
    const { id } = await answer.json<{ id: string }>()
    const endedAt = await end(id)
    const expires_at = new Date(endedAt + 60_000).toISOString()
    expect(await read(`/files/${id}`)).toMatchObject({ expires_at })
    await sweepDirectly(env, endedAt + 60_000)
    expect(await read(`/files/${id}`)).toEqual({ gone: 404 })
    expect(await left(endedAt + 60_000)).toEqual(NO_ACCOUNT_DATA)
  })

  it("is kept for a task that reads it until the task ends", async () => {
    const body = new FormData()
    body.append("file", new File(["x"], "a.wav"))
    body.append("expires_in", "60")
    const { id } = await (
      await caller.call("/files", { method: "POST", body })
    ).json<{ id: string }>()
    const endedAt = await end(id)
    const created = await caller.post("/commands", copyOf(id))
    const { command_id } = await created.json<{ command_id: string }>()
    await env.DB.prepare("update tasks set state = 'running' where job_id = ?")
      .bind(command_id)
      .run()
    await sweepDirectly(env, endedAt + 60_000)
    expect(await read(`/files/${id}`)).toMatchObject({ id })
    expect(await left(endedAt + 60_000)).toMatchObject({ objects: 1 })
    await env.DB.prepare("update tasks set state = 'failed' where job_id = ?")
      .bind(command_id)
      .run()
    await sweepDirectly(env, endedAt + 60_000)
    expect(await read(`/files/${id}`)).toEqual({ gone: 404 })
    expect(await left(endedAt + 2 * DAY_MS)).toMatchObject({ objects: 0 })
  })
})

describe("RETENTION_DAYS", () => {
  const kept = { ...env, RETENTION_DAYS: "10" }

  it("removes all jobs that ended before it was set, with their Files", async () => {
    const file = await uploadTestFile(caller, "a.wav", "x")
    const id = await normalize()
    const endedAt = await end(id)
    await end(file.id, endedAt)
    await sweepDirectly(kept, endedAt + 10 * DAY_MS - 1)
    expect(await countAccountData(accountId)).toMatchObject({ files: 3, jobs: 2 })
    await sweepDirectly(kept, endedAt + 10 * DAY_MS + 1)
    expect(await left(endedAt + 10 * DAY_MS)).toEqual(NO_ACCOUNT_DATA)
  })

  it("removes old Files whose jobs are removed, and no younger ones", async () => {
    const file = await uploadTestFile(caller, "a.wav", "x")
    const id = await normalize()
    const endedAt = await end(id)
    await end(file.id, endedAt)
    await sweepDirectly(env, endedAt + 91 * DAY_MS)
    expect(await countAccountData(accountId)).toMatchObject({ files: 3, jobs: 0 })
    await sweepDirectly({ ...env, RETENTION_DAYS: "100" }, endedAt + 99 * DAY_MS)
    expect(await countAccountData(accountId)).toMatchObject({ files: 3 })
    await sweepDirectly({ ...env, RETENTION_DAYS: "100" }, endedAt + 101 * DAY_MS)
    expect(await left(endedAt + 101 * DAY_MS)).toEqual(NO_ACCOUNT_DATA)
  })
})

/** Returns a command that copies a File. */
function copyOf(fileId: string): object {
  return {
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: "copy.wav" },
    ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}",
  }
}
