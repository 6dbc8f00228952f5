import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { fetchWorker, makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller, FileRecord } from "../../support/caller.ts"
import { makeFormFile, postNormalizeForm } from "../../support/media/kind-upload.ts"
import { countAccountData } from "../../support/left-over.ts"
import type { FormPart } from "../../support/media/kind-upload.ts"
import { readProblem } from "../../support/problem.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  PROBE_TASK_END,
  readInputReadiness,
  readJob,
} from "../../support/runner/stand-in-runner.ts"

// Creates of a kind that accepts a file in a form; normalizations stand for all kinds.

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`kind uploads ${crypto.randomUUID()}`)
  accountId = await findCallerAccountId(caller)
})

// Open jobs would occupy slots that the next test needs.
afterEach(async () => {
  const jobs = await (await caller.call("/jobs?limit=100")).json<{ id: string }[]>()
  for (const { id } of jobs) await caller.call(`/jobs/${id}`, { method: "DELETE" })
})

async function create(...fields: FormPart[]): Promise<{ id: string; fileId: string }> {
  const answer = await postNormalizeForm(caller, [["file", makeFormFile()], ...fields])
  if (answer.status !== 202) throw new Error(await answer.text())
  const { normalization_id: id } = await answer.json<{ normalization_id: string }>()
  return { id, fileId: String((await read(`/normalize/${id}`))["file_id"]) }
}

async function read(path: string): Promise<Record<string, unknown>> {
  const answer = await caller.call(path)
  return answer.status === 200 ? await answer.json() : { gone: answer.status }
}

describe("a create with a file", () => {
  it("creates a File that is ready at once, and a job that waits for its probe", async () => {
    const { id, fileId } = await create(["loudnorm_i", "-16"], ["metadata", '{"a":"b"}'])
    expect(await countAccountData(accountId)).toMatchObject({
      files: 2,
      uploads: 0,
      jobs: 1,
      objects: 1,
    })
    const expected = {
      id: fileId,
      name: "talk.wav",
      source: "upload",
      status: "pending",
      size_bytes: 5,
      content_type: "audio/wav",
      download_url: `https://lathe.test/v1/files/${fileId}/talk.wav`,
    }
    expect(await (await caller.call("/files")).json()).toMatchObject([expected])
    const redirect = await caller.call(`/files/${fileId}/talk.wav`)
    const stored = await fetchWorker(redirect.headers.get("location") ?? "")
    expect(new TextDecoder().decode(await stored.arrayBuffer())).toBe("bytes")
    const { job, tasks } = await readJob(accountId, id)
    expect(job).toMatchObject({ metadata: { a: "b" } })
    expect(job.request).toMatchObject({ file_url: `svc_id://${fileId}`, loudnorm_i: -16 })
    expect(tasks.map(({ work, weight }) => `${work.kind} ${weight}`).toSorted()).toEqual([
      "normalize 99",
      "probe 1",
    ])
    const task = await findTaskByKind(accountId, id, "normalize")
    expect(await readInputReadiness(accountId, task.id)).toBe("pending")
    expect(
      await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), PROBE_TASK_END),
    ).toBe("ok")
    expect(await readInputReadiness(accountId, task.id)).toBe("ready")
    expect(await read(`/files/${fileId}`)).toMatchObject({ ...expected, status: "success" })
  })

  it("creates a File whose end a caller can wait for, whatever its job does", async () => {
    const { id, fileId } = await create()
    const headers = { prefer: "wait=20" }
    const waiting = caller.call(`/files/${fileId}`, { headers })
    await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), PROBE_TASK_END)
    expect(await (await waiting).json()).toMatchObject({ id: fileId, status: "success" })
    expect(await read(`/normalize/${id}`)).toMatchObject({ status: "running" })
  })

  it("continues with a file that is no media, and keeps it as a File", async () => {
    const { id, fileId } = await create()
    const failure = { code: "probe_failed" as const, message: "It is no media." }
    expect(await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), { failure })).toBe(
      "ok",
    )
    const task = await findTaskByKind(accountId, id, "normalize")
    expect(await readInputReadiness(accountId, task.id)).toBe("ready")
    expect(await read(`/files/${fileId}`)).toMatchObject({
      error: "It is no media.",
      ffprobe_error: "a line",
    })
  })

  it("accepts every documented form of a body", async () => {
    const { id: known } = await uploadTestFile(caller, "clip.wav", "bytes")
    for (const file_url of [`svc_id://${known}`, "https://media.example/a.wav"]) {
      const answer = await postNormalizeForm(caller, [["file_url", file_url]])
      expect(answer.status).toBe(202)
    }
    const text = { method: "POST", body: "x", headers: { "content-type": "text/plain" } }
    expect((await caller.call("/normalize", text)).status).toBe(415)
  })
})

describe("the end of the job of an uploaded file", () => {
  it.each([
    ["canceled before", "cancel", false],
    ["canceled after", "cancel", true],
    ["deleted before", "delete", false],
    ["deleted after", "delete", true],
  ])("leaves the File usable when the job is %s the probe", async (_, end, isProbed) => {
    const { id, fileId } = await create()
    if (isProbed)
      await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), PROBE_TASK_END)
    const ended =
      end === "cancel"
        ? await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
        : await caller.call(`/normalize/${id}`, { method: "DELETE" })
    expect(ended.status).toBe(200)
    expect(await read(`/files/${fileId}`)).toMatchObject({ status: "success", source: "upload" })
    expect((await caller.call(`/files/${fileId}/talk.wav`)).status).toBe(302)
    const again = await caller.post("/normalize", { file_url: `svc_id://${fileId}` })
    expect(again.status).toBe(202)
    const { normalization_id } = await again.json<{ normalization_id: string }>()
    const task = await findTaskByKind(accountId, normalization_id, "normalize")
    expect(await readInputReadiness(accountId, task.id)).toBe("ready")
  })

  it("allows a retry with the same File, which is not probed again", async () => {
    const { id, fileId } = await create(["loudnorm_i", "-16"])
    await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), PROBE_TASK_END)
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    const answer = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    const { id: retryId } = await answer.json<{ id: string }>()
    const { tasks, inputs } = await readJob(accountId, retryId)
    expect(tasks.map(({ work }) => work.kind)).toEqual(["normalize"])
    expect(inputs).toMatchObject([{ fileId, awaitsProbe: false }])
    expect(await readInputReadiness(accountId, tasks[0]?.id ?? "")).toBe("ready")
    expect(await read(`/normalize/${retryId}`)).toMatchObject({ file_id: fileId, loudnorm_i: -16 })
    expect((await (await caller.call("/files")).json<FileRecord[]>()).length).toBe(1)
  })

  it("allows no retry once the File is deleted", async () => {
    const { id, fileId } = await create()
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    await caller.call(`/files/${fileId}`, { method: "DELETE" })
    const answer = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    expect(answer.status).toBe(422)
    expect((await readProblem(answer)).details.map(({ field }) => field)).toEqual(["file_url"])
  })

  it("is input_deleted if the File is deleted while the job waits", async () => {
    const { id, fileId } = await create()
    expect((await caller.call(`/files/${fileId}`, { method: "DELETE" })).status).toBe(200)
    await expect
      .poll(async () => await read(`/normalize/${id}`))
      .toMatchObject({ status: "failed", error_code: "input_deleted" })
    expect(await countAccountData(accountId)).toMatchObject({ uploads: 0, jobs: 1 })
  })
})
