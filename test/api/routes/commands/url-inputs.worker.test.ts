import { env } from "cloudflare:workers"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeCommandBodyWithInputs } from "../../../support/media/command-request.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  makeImportEnd,
  NOT_FOUND_TASK_END,
  PROBE_TASK_END,
  readInputReadiness,
  readJob,
} from "../../../support/runner/stand-in-runner.ts"

const ONE = "https://media.example/one.mp4"
const OTHER = "https://media.example/other"
const IMPORT_MISSING = "not_found: The server says that there is no such file (404)."

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`url inputs ${crypto.randomUUID()}`)
  accountId = await findCallerAccountId(caller)
})

// Open jobs would occupy slots that the next test needs.
afterEach(async () => {
  const jobs = await (await caller.call("/jobs?limit=100")).json<{ id: string }[]>()
  for (const { id } of jobs) await caller.call(`/jobs/${id}`, { method: "DELETE" })
})

async function create(input_files: Record<string, string>): Promise<string> {
  const answer = await caller.post("/commands", makeCommandBodyWithInputs(input_files))
  if (answer.status !== 202) throw new Error(await answer.text())
  return (await answer.json<{ command_id: string }>()).command_id
}

async function read(path: string): Promise<Record<string, unknown>> {
  const answer = await caller.call(path)
  return answer.status === 200 ? await answer.json() : { gone: answer.status }
}

async function listFiles() {
  return await (await caller.call("/files")).json<(Record<string, unknown> & { id: string })[]>()
}

function importOf(jobId: string, url = ONE) {
  return findTaskByKind(accountId, jobId, "import", ({ work }) => work["url"] === url)
}

async function probeOf(jobId: string, url = ONE) {
  const { id: fileId } = await importOf(jobId, url)
  const { inputs } = await readJob(accountId, jobId)
  const ids = inputs.filter((input) => input.fileId === fileId).map(({ taskId }) => taskId)
  return await findTaskByKind(accountId, jobId, "probe", ({ id }) => ids.includes(id))
}

function commandOf(jobId: string) {
  return findTaskByKind(accountId, jobId, "command")
}

describe("a command with URLs as inputs", () => {
  it("imports each URL once, whatever its spelling, and shows the URLs as sent", async () => {
    const given = {
      in_1: `${ONE}#t=5`,
      in_2: "HTTPS://Media.Example:443/one.mp4",
      in_3: OTHER,
    }
    const id = await create(given)
    expect(await read(`/commands/${id}`)).toMatchObject({
      original_request: { input_files: given },
    })
    const { tasks, inputs } = await readJob(accountId, id)
    const kinds = tasks.map(({ work, weight }) => `${work.kind} ${weight}`)
    expect(kinds.toSorted()).toEqual([
      "command 138",
      "import 30",
      "import 30",
      "probe 1",
      "probe 1",
    ])
    const command = await commandOf(id)
    const own = inputs.filter(({ taskId }) => taskId === command.id)
    const byKey = new Map(own.map(({ key, fileId }) => [key, fileId]))
    expect(byKey.get("in_1")).toBe(byKey.get("in_2"))
    expect(byKey.get("in_3")).not.toBe(byKey.get("in_1"))
    expect(await listFiles()).toMatchObject([
      { source: "import", source_url: OTHER, name: "other", status: "pending" },
      { source: "import", source_url: ONE, name: "one.mp4", status: "pending" },
    ])
  })

  it("waits until its inputs are stored and probed, and shows the progress of all steps", async () => {
    const id = await create({ in_1: ONE })
    const command = await commandOf(id)
    const bringIn = await importOf(id)
    expect(await readInputReadiness(accountId, command.id)).toBe("pending")
    await claimAndEndTask(bringIn, makeImportEnd())
    expect(await readInputReadiness(accountId, command.id)).toBe("pending")
    expect(await read(`/jobs/${id}`)).toMatchObject({ progress: 30 })
    await claimAndEndTask(await probeOf(id), PROBE_TASK_END)
    expect(await readInputReadiness(accountId, command.id)).toBe("ready")
    expect(await read(`/jobs/${id}`)).toMatchObject({ progress: 31, status: "processing" })
    const sha256 = "0123456789abcdef".repeat(4)
    const outputs = [{ key: "out_1", size_bytes: 3, content_type: "video/mp4", sha256 }]
    await claimAndEndTask(command, { result: { kind: "command", outputs } })
    expect(await read(`/commands/${id}`)).toMatchObject({
      status: "success",
      progress: 100,
      output_files: { out_1: { name: "out.mp4", sha256 } },
    })
    expect(await read(`/files/${bringIn.id}`)).toMatchObject({
      status: "success",
      name: "film.webm",
      ffprobe: { width: 4 },
    })
  })

  it("continues with an input that is broken media; the run reports it", async () => {
    const id = await create({ in_1: ONE })
    const bringIn = await importOf(id)
    await claimAndEndTask(bringIn, makeImportEnd({ name: "half.mp4" }))
    const probe_error = "The file is cut off: its index (moov atom) is missing. Upload it again."
    const probe_lines = "moov atom not found"
    await claimAndEndTask(await probeOf(id), {
      result: { kind: "probe", probe_error, probe_lines },
    })
    expect(await read(`/files/${bringIn.id}`)).toMatchObject({
      status: "failed",
      error_code: "probe_failed",
      error: probe_error,
      ffprobe_error: probe_lines,
      size_bytes: 7,
    })
    expect(await readInputReadiness(accountId, (await commandOf(id)).id)).toBe("ready")
    expect(await read(`/commands/${id}`)).toMatchObject({ status: "running" })
  })

  it.each([
    ["by its caller's file", "caller" as const, 1],
    ["by ourselves, three times", "ours" as const, 3],
  ])("continues if a probe fails %s", async (_, blame, times) => {
    const id = await create({ in_1: ONE })
    await claimAndEndTask(await importOf(id), makeImportEnd())
    const failure = { code: "out_of_memory" as const, message: "It took too much memory." }
    for (let time = 0; time < times; time += 1) {
      await claimAndEndTask(await probeOf(id), { blame, failure })
    }
    const { files } = await readJob(accountId, id)
    expect(files.find(({ source }) => source === "import")).toMatchObject({
      state: "failed",
      errorMessage: "It took too much memory.",
      probeError: "a line",
    })
    expect(await readInputReadiness(accountId, (await commandOf(id)).id)).toBe("ready")
  })

  it("fails with an input that cannot be imported, and names the input and the cause", async () => {
    const id = await create({ in_1: ONE, in_2: `${ONE}#again`, in_3: OTHER })
    await claimAndEndTask(await importOf(id), NOT_FOUND_TASK_END)
    const message = `The inputs "in_1" and "in_2" could not be imported: ${IMPORT_MISSING}`
    expect(await read(`/commands/${id}`)).toMatchObject({
      status: "failed",
      error_code: "input_failed",
      error: message,
      processing_errors: [message, "a line"],
    })
    expect(await listFiles()).toMatchObject([
      { source_url: OTHER, status: "failed", error_code: "canceled" },
      { source_url: ONE, status: "failed", error_code: "not_found" },
    ])
  })

  it("fails the same way if its import has no tries left", async () => {
    const id = await create({ in_1: ONE })
    const failure = { code: "connection_failed" as const, message: "It was cut." }
    for (let time = 0; time < 3; time += 1) {
      await claimAndEndTask(await importOf(id), { blame: "ours", failure })
    }
    expect(await read(`/commands/${id}`)).toMatchObject({
      error_code: "input_failed",
      error: 'The input "in_1" could not be imported: connection_failed: It was cut.',
    })
    expect(await listFiles()).toMatchObject([{ error_code: "connection_failed" }])
  })

  it("leaves its imported Files and nothing else when it is deleted", async () => {
    const id = await create({ in_1: ONE, in_2: OTHER })
    const bringIn = await importOf(id)
    const objectKey = `${accountId}/tasks/${bringIn.id}/0/file/media`
    await env.MEDIA.put(objectKey, "film")
    await claimAndEndTask(bringIn, makeImportEnd({ is_resumable: true }))
    expect((await caller.call(`/commands/${id}`, { method: "DELETE" })).status).toBe(200)
    expect(await listFiles()).toMatchObject([
      { source_url: OTHER, status: "failed", error_code: "canceled" },
      { source_url: ONE, status: "success", name: "film.webm" },
    ])
    expect(await env.MEDIA.head(objectKey)).not.toBeNull()
    const record = await read(`/files/${bringIn.id}`)
    expect(record["ffprobe_error"]).toMatch(/not probed/)
    expect((await caller.call(`/files/${bringIn.id}/film.webm`)).status).toBe(302)
    for (const { id: fileId } of await listFiles()) {
      expect((await caller.call(`/files/${fileId}`, { method: "DELETE" })).status).toBe(200)
    }
    expect(await listFiles()).toEqual([])
    await expect.poll(() => env.MEDIA.head(objectKey)).toBeNull()
  })

  it("cancels its imports when it is canceled", async () => {
    const id = await create({ in_1: ONE })
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    const { tasks } = await readJob(accountId, id)
    expect(new Set(tasks.map(({ state }) => state))).toEqual(new Set(["canceled"]))
    expect(await claimAndEndTask(await importOf(id), makeImportEnd())).toBe("gone")
    expect(await listFiles()).toMatchObject([{ status: "failed", error_code: "canceled" }])
  })

  it("ends if the File of an import is deleted meanwhile", async () => {
    const id = await create({ in_1: ONE })
    const bringIn = await importOf(id)
    await caller.call(`/files/${bringIn.id}`, { method: "DELETE" })
    await expect
      .poll(() => read(`/commands/${id}`))
      .toMatchObject({ status: "failed", error_code: "input_deleted" })
    const { error } = await read(`/commands/${id}`)
    expect(error).toBe('The input "in_1" was deleted before the job could read it.')
  })

  it("is retried with imports of its own, even of deleted Files", async () => {
    const before = await create({ in_1: ONE, in_2: `svc_id://${await uploaded()}` })
    const bringIn = await importOf(before)
    await claimAndEndTask(bringIn, makeImportEnd())
    await claimAndEndTask(await probeOf(before), PROBE_TASK_END)
    const failure = { code: "command_failed" as const, message: "It failed." }
    await claimAndEndTask(await commandOf(before), { failure })
    await caller.call(`/files/${bringIn.id}`, { method: "DELETE" })
    const answer = await caller.call(`/jobs/${before}/retry`, { method: "POST" })
    expect(answer.status).toBe(202)
    const { id } = await answer.json<{ id: string }>()
    const [again, command] = [await importOf(id), await commandOf(id)]
    expect(again.id).not.toBe(bringIn.id)
    expect(await readInputReadiness(accountId, command.id)).toBe("pending")
    await claimAndEndTask(again, makeImportEnd())
    await claimAndEndTask(await probeOf(id), PROBE_TASK_END)
    expect(await readInputReadiness(accountId, command.id)).toBe("ready")
    expect((await readJob(accountId, id)).files).toHaveLength(2)
  })
})

async function uploaded(): Promise<string> {
  const { id } = await uploadTestFile(caller, "clip.mp4", "x")
  await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), PROBE_TASK_END)
  return id
}

describe("a command with an import of another job as its input", () => {
  async function importFile(): Promise<string> {
    const answer = await caller.post("/files", { file_url: ONE })
    return (await answer.json<{ id: string }>()).id
  }

  it("waits for the import", async () => {
    const fileId = await importFile()
    const id = await create({ in_1: `svc_id://${fileId}` })
    const command = await commandOf(id)
    expect(await readInputReadiness(accountId, command.id)).toBe("pending")
    await claimAndEndTask(await importOf(fileId), makeImportEnd())
    expect(await readInputReadiness(accountId, command.id)).toBe("pending")
    await claimAndEndTask(await probeOf(fileId), PROBE_TASK_END)
    expect(await readInputReadiness(accountId, command.id)).toBe("ready")
  })

  it("fails with the import, and names the input and the cause", async () => {
    const fileId = await importFile()
    const id = await create({ in_1: `svc_id://${fileId}` })
    await claimAndEndTask(await importOf(fileId), NOT_FOUND_TASK_END)
    await expect
      .poll(() => read(`/commands/${id}`))
      .toMatchObject({
        status: "failed",
        error_code: "input_failed",
        error: `The input "in_1" could not be imported: ${IMPORT_MISSING}`,
      })
  })
})

describe("inputs that turn out too large", () => {
  it("fail the command with a message before it starts", async () => {
    const id = await create({ in_1: ONE, in_2: OTHER })
    for (const url of [ONE, OTHER]) {
      await claimAndEndTask(await importOf(id, url), makeImportEnd({ size_bytes: 6 * 1024 ** 3 }))
      await claimAndEndTask(await probeOf(id, url), PROBE_TASK_END)
    }
    await expect
      .poll(() => read(`/commands/${id}`))
      .toMatchObject({ status: "failed", error_code: "inputs_too_large" })
    const { error } = await read(`/commands/${id}`)
    expect(error).toMatch(/^The job could not start: the inputs have 12884901888 bytes in total/)
    expect(await listFiles()).toMatchObject([{ status: "success" }, { status: "success" }])
  })
})
