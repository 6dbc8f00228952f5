import { env } from "cloudflare:workers"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeCommandBody } from "../../../support/media/command-request.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  makeImportEnd,
  NOT_FOUND_TASK_END,
  PROBE_TASK_END,
  readInputReadiness,
  readJob,
} from "../../../support/runner/stand-in-runner.ts"
import { readProblem } from "../../../support/problem.ts"

const URL_OF_FILE = "https://media.example/films/a%20film.mp4?token=1#t=5"

type FileRecord = Record<string, unknown> & { id: string; download_url: string }

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`imports ${crypto.randomUUID()}`)
  accountId = await findCallerAccountId(caller)
})

// Open imports would occupy slots that the next test needs.
afterEach(async () => {
  const files = await (await caller.call("/files?limit=100")).json<FileRecord[]>()
  for (const { id } of files) await caller.call(`/files/${id}`, { method: "DELETE" })
})

function formOf(fields: Record<string, string>): RequestInit {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  return { method: "POST", body }
}

async function importFile(fields: object = {}): Promise<FileRecord> {
  const answer = await caller.post("/files", { file_url: URL_OF_FILE, ...fields })
  if (answer.status !== 201) throw new Error(await answer.text())
  return await answer.json<FileRecord>()
}

async function readFile(id: string): Promise<FileRecord> {
  return await (await caller.call(`/files/${id}`)).json<FileRecord>()
}

function taskOf(id: string, kind: string) {
  return findTaskByKind(accountId, id, kind)
}

describe("POST /files with a file_url", () => {
  it.each<[string, () => Promise<Response>]>([
    ["JSON", () => caller.post("/files", { file_url: URL_OF_FILE, metadata: { a: "b" } })],
    [
      "a form",
      () => caller.call("/files", formOf({ file_url: URL_OF_FILE, metadata: '{"a":"b"}' })),
    ],
  ])("answers a waiting File, by %s", async (_, send) => {
    const answer = await send()
    expect(answer.status).toBe(201)
    const file = await answer.json<FileRecord>()
    expect(answer.headers.get("location")).toBe(`https://lathe.test/v1/files/${file.id}`)
    expect(file).toMatchObject({
      status: "pending",
      source: "import",
      source_url: "https://media.example/films/a%20film.mp4?token=1",
      name: "a film.mp4",
      download_url: `https://lathe.test/v1/files/${file.id}/a%20film.mp4`,
      size_bytes: null,
      content_type: null,
      metadata: { a: "b" },
    })
    const { work } = await taskOf(file.id, "import")
    expect(work).toMatchObject({
      url: "https://media.example/films/a%20film.mp4?token=1",
      bytes_max: 30 * 1024 * 1024,
      run_seconds_max: 4 * 3600,
    })
  })

  it("is the same request in both forms if repeated with its key", async () => {
    const headers = { "idempotency-key": "once" }
    const ids = []
    for (const init of [
      { method: "POST", body: JSON.stringify({ file_url: URL_OF_FILE, priority: 7 }) },
      formOf({ file_url: URL_OF_FILE, priority: "7" }),
      formOf({ file_url: "https://media.example/other", priority: "7" }),
    ]) {
      const type = { "content-type": "application/json" }
      const isJson = typeof init.body === "string"
      const answer = await caller.call("/files", {
        ...init,
        headers: { ...headers, ...(isJson && type) },
      })
      ids.push(answer.status === 201 ? (await answer.json<FileRecord>()).id : answer.status)
    }
    expect(ids[0]).toBe(ids[1])
    expect(ids[2]).toBe(409)
  })

  it.each([
    ["no URL", "films/a.mp4"],
    ["another scheme", "ftp://media.example/a.mp4"],
    ["a user and a password", "https://me:secret@media.example/a.mp4"],
    ["a private address", "http://10.1.2.3/a.mp4"],
    ["a private address in another spelling", "http://0x7f.1/a.mp4"],
    ["a port of another protocol", "http://media.example:25/a.mp4"],
    ["a reference to an own file", "svc_id://0197a6d2-6f7c-7c33-9b1e-3f2a8c5d4e10"],
    ["a download_url", "https://lathe.test/v1/files/0197a6d2-6f7c-7c33-9b1e-3f2a8c5d4e10/a.mp4"],
    ["another URL of this service", "https://lathe.test/media/x/y"],
    ["this service by another scheme", "http://LATHE.test./v1/openapi.json"],
  ])("refuses %s, names the field and creates nothing", async (_, file_url) => {
    for (const answer of [
      await caller.post("/files", { file_url }),
      await caller.call("/files", formOf({ file_url })),
    ]) {
      expect(answer.status).toBe(422)
      const { details } = await readProblem(answer)
      expect(details).toMatchObject([{ field: "file_url", code: "url_not_allowed" }])
    }
    expect(await (await caller.call("/files")).json()).toEqual([])
  })

  it.each<[string, object, string[]]>([
    ["nothing", {}, ["file_url"]],
    ["an array", [], ["body"]],
    ["a number", { file_url: 7 }, ["file_url"]],
    ["too long a URL", { file_url: `https://a.example/${"x".repeat(8200)}` }, ["file_url"]],
    ["a file", { file: "bytes" }, ["file"]],
    ["an unknown field", { file_url: URL_OF_FILE, colour: "red" }, ["colour"]],
    ["metadata as a text", { file_url: URL_OF_FILE, metadata: "{}" }, ["metadata"]],
    ["a private webhook", { file_url: URL_OF_FILE, webhook: "http://10.0.0.1/" }, ["webhook"]],
  ])("refuses a JSON body with %s", async (_, body, fields) => {
    const answer = await caller.post("/files", body)
    expect(answer.status).toBe(422)
    expect((await readProblem(answer)).details.map(({ field }) => field)).toEqual(fields)
  })
})

describe("an imported file", () => {
  it("has its name and size once it is stored, and is ready once it is probed", async () => {
    const { id } = await importFile({ webhook: "https://receiver.example/" })
    const probe = await taskOf(id, "probe")
    expect(await readInputReadiness(accountId, probe.id)).toBe("pending")
    expect(await claimAndEndTask(await taskOf(id, "import"), makeImportEnd())).toBe("ok")
    expect(await readFile(id)).toMatchObject({
      status: expect.stringMatching(/^(?:pending|running)$/),
      name: "film.webm",
      size_bytes: 7,
      content_type: "video/webm",
      progress: 99,
    })
    expect(await readInputReadiness(accountId, probe.id)).toBe("ready")
    await claimAndEndTask(probe, PROBE_TASK_END)
    const file = await readFile(id)
    expect(file).toMatchObject({
      status: "success",
      source: "import",
      progress: 100,
      ffprobe: { width: 4 },
    })
    const { files } = await readJob(accountId, id)
    const { id: taskId } = await taskOf(id, "import")
    expect(files[0]?.objectKey).toMatch(new RegExp(`^${accountId}/tasks/${taskId}/1/file/media$`))
    const type = env.DB.prepare("select type from deliveries where job_id = ?").bind(id)
    expect(await type.first("type")).toBe("file.succeeded")
  })

  it("is stored at the resumable key if its import resumed earlier runs", async () => {
    const { id } = await importFile()
    await claimAndEndTask(await taskOf(id, "import"), makeImportEnd({ is_resumable: true }))
    const { files } = await readJob(accountId, id)
    expect(files[0]?.objectKey).toBe(`${accountId}/tasks/${id}/0/file/media`)
  })

  it("is probed by a runner with enough disk", async () => {
    const { id } = await importFile()
    const size_bytes = 3 * 1024 ** 3
    await claimAndEndTask(await taskOf(id, "import"), makeImportEnd({ size_bytes }))
    expect(await taskOf(id, "probe")).toMatchObject({
      pool: "media",
      work: { input_bytes: size_bytes },
    })
  })

  it("is listed, also by its source, while it is imported; it has no download yet", async () => {
    const file = await importFile()
    for (const query of ["", "?source=import"]) {
      const listed = await (await caller.call(`/files${query}`)).json<FileRecord[]>()
      expect(listed.map(({ id }) => id)).toEqual([file.id])
    }
    expect(await (await caller.call("/files?source=upload")).json()).toEqual([])
    expect((await caller.call("/files?source=fetch")).status).toBe(422)
    const answer = await caller.call(new URL(file.download_url).pathname.slice(3))
    expect(answer.status).toBe(409)
    expect((await readProblem(answer)).message).toMatch(/import of the file has not ended/)
  })

  it("is canceled and removed when it is deleted meanwhile", async () => {
    const { id } = await importFile()
    const bringIn = await taskOf(id, "import")
    await caller.call(`/files/${id}`, { method: "DELETE" })
    expect((await caller.call(`/files/${id}`)).status).toBe(404)
    const row = env.DB.prepare("select 1 from tasks where id = ?").bind(bringIn.id)
    expect(await row.first()).toBeNull()
  })
})

describe("a file whose import failed", () => {
  it("remains with the cause, and can be deleted", async () => {
    const { id, download_url } = await importFile({ webhook: "https://receiver.example/" })
    await claimAndEndTask(await taskOf(id, "import"), NOT_FOUND_TASK_END)
    const facts = {
      id,
      status: "failed",
      source: "import",
      error_code: "not_found",
      error: "The server says that there is no such file (404).",
      size_bytes: null,
    }
    expect(await readFile(id)).toMatchObject(facts)
    expect(await (await caller.call("/files?status=failed")).json()).toMatchObject([facts])
    const answer = await caller.call(new URL(download_url).pathname.slice(3))
    expect(answer.status).toBe(404)
    expect((await readProblem(answer)).message).toMatch(/not_found: The server says/)
    const type = env.DB.prepare("select type from deliveries where job_id = ?").bind(id)
    expect(await type.first("type")).toBe("file.failed")
    expect((await caller.call(`/files/${id}`, { method: "DELETE" })).status).toBe(200)
    expect((await caller.call(`/files/${id}`)).status).toBe(404)
  })

  it("is refused as an input, and the fault names the cause", async () => {
    const { id } = await importFile()
    await claimAndEndTask(await taskOf(id, "import"), NOT_FOUND_TASK_END)
    const answer = await caller.post("/commands", makeCommandBody(id))
    expect(answer.status).toBe(422)
    const { details } = await readProblem(answer)
    expect(details).toMatchObject([{ field: "input_files.in_1", code: "input_failed" }])
    expect(details[0]?.message).toMatch(/"a film.mp4".*not_found.*import it again/)
  })

  it.each<[string, () => Promise<string>]>([
    [
      "whose import failed",
      async () => {
        const { id } = await importFile()
        await claimAndEndTask(await taskOf(id, "import"), NOT_FOUND_TASK_END)
        return id
      },
    ],
    [
      "whose probe failed",
      async () => {
        const { id } = await importFile()
        await claimAndEndTask(await taskOf(id, "import"), makeImportEnd())
        const failure = { code: "probe_failed" as const, message: "This is no media." }
        await claimAndEndTask(await taskOf(id, "probe"), { failure })
        const file = await readFile(id)
        expect(file).toMatchObject({ error_code: "probe_failed", size_bytes: 7 })
        expect([file["error"], file["ffprobe_error"]]).toEqual(["This is no media.", "a line"])
        const redirect = await caller.call(new URL(file.download_url).pathname.slice(3))
        expect(redirect.status).toBe(302)
        return id
      },
    ],
  ])("is imported again by a retry: one %s", async (_, fail) => {
    const before = await fail()
    const answer = await caller.call(`/jobs/${before}/retry`, { method: "POST" })
    expect(answer.status).toBe(202)
    const { id } = await answer.json<{ id: string }>()
    expect(await readFile(id)).toMatchObject({
      status: "pending",
      name: "a film.mp4",
      source_url: "https://media.example/films/a%20film.mp4?token=1",
      size_bytes: null,
    })
    await claimAndEndTask(await taskOf(id, "import"), makeImportEnd())
    await claimAndEndTask(await taskOf(id, "probe"), PROBE_TASK_END)
    expect(await readFile(id)).toMatchObject({ status: "success", name: "film.webm" })
    expect((await readFile(before))["status"]).toBe("failed")
  })
})
