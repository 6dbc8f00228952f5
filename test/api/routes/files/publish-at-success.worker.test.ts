import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { fetchWorker, makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeFetchResult } from "../../../support/media/fetched.ts"
import { makeNormalizeResult } from "../../../support/media/normalized.ts"
import { makeRenderResult } from "../../../support/media/rendered.ts"
import { readProblem } from "../../../support/problem.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  makeImportEnd,
  PROBE_TASK_END,
} from "../../../support/runner/stand-in-runner.ts"
import type { ReportedTaskEnd } from "../../../support/runner/stand-in-runner.ts"
import { readStoredWebhook } from "../../../support/stored-webhook.ts"

const PAGE = "https://media.example/film.webm"
const HOOK = "https://receiver.example/"
const RENDITIONS = [{ codec: "h264", resolution: "480p" }]
const FAILURE: ReportedTaskEnd = { failure: { code: "command_failed", message: "It failed." } }
const OUTPUT = { key: "out_1", size_bytes: 9, content_type: "video/mp4" }
const COMMANDED: ReportedTaskEnd = { result: { kind: "command", outputs: [OUTPUT] } }

const publicOutput = z.looseObject({ id: z.uuid(), public_url: z.url() })
const record = z.looseObject({ outputs: z.array(publicOutput).length(1) })

let caller: TestCaller
let accountId: string
let input: string

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID())
  accountId = await findCallerAccountId(caller)
  const { id } = await uploadTestFile(caller, "talk.mp4", "bytes")
  await end(id, "probe", PROBE_TASK_END)
  input = `svc_id://${id}`
})

async function end(id: string, kind: string, how: ReportedTaskEnd): Promise<void> {
  expect(await claimAndEndTask(await findTaskByKind(accountId, id, kind), how)).toBe("ok")
}

async function create(path: string, body: object): Promise<string> {
  const answer = await caller.post(path, body)
  expect(answer.status).toBe(202)
  const location = answer.headers.get("location") ?? ""
  return location.slice(location.lastIndexOf("/") + 1)
}

async function read(path: string): Promise<unknown> {
  return await (await caller.call(path)).json()
}

async function statusOf(url: string): Promise<number> {
  const answer = await fetchWorker(url, { method: "HEAD" })
  return answer.status
}

type Create = [path: string, body: () => object, ends: [kind: string, how: ReportedTaskEnd][]]

const CREATES: Create[] = [
  [
    "/commands",
    () => ({
      input_files: { in_1: input },
      output_files: { out_1: "a.mp4" },
      ffmpeg_command: "ffmpeg -i in_1 out_1",
    }),
    [["command", COMMANDED]],
  ],
  ["/ffmpeg", () => ({ inputs: [input], command: "-i in_1 a.mp4" }), [["command", COMMANDED]]],
  [
    "/transcode",
    () => ({ source: input, outputs: RENDITIONS }),
    [["render", { result: makeRenderResult("out_1") }]],
  ],
  ["/normalize", () => ({ file_url: input }), [["normalize", { result: makeNormalizeResult() }]]],
  [
    "/fetch",
    () => ({ url: PAGE, transcode: { outputs: RENDITIONS } }),
    [
      ["fetch", { result: makeFetchResult() }],
      ["render", { result: makeRenderResult("out_1") }],
    ],
  ],
]

describe("a create with publish", () => {
  it.each(CREATES)("makes its outputs public at the success: POST %s", async (path, body, ends) => {
    const id = await create(path, { ...body(), publish: true, webhook: HOOK })
    expect(await read(`/jobs/${id}`)).not.toHaveProperty("outputs.0")
    for (const [kind, how] of ends) await end(id, kind, how)
    const [output] = record.parse(await read(`/jobs/${id}`)).outputs
    const listed = z.array(record).parse(await read("/jobs?limit=1"))
    expect(listed[0]?.outputs).toEqual([output])
    const { id: fileId = "", public_url = "" } = output ?? {}
    expect(public_url).toContain(`https://lathe.test/public/1/${fileId}/`)
    expect(await read(`/files/${fileId}`)).toMatchObject({ public_url })
    const published = await read("/files")
    const others = z.array(z.looseObject({ id: z.uuid(), public_url: z.url().optional() }))
    expect(others.parse(published).flatMap((file) => (file.public_url ? [file.id] : []))).toEqual([
      fileId,
    ])
    const { body: told } = await readStoredWebhook(id)
    expect(told).toContain(`"public_url":"${public_url}"`)
  })

  it.each(CREATES)("publishes nothing if its job fails: POST %s", async (path, body, ends) => {
    const id = await create(path, { ...body(), publish: true })
    const [last] = ends.slice(-1)
    for (const [kind, how] of ends.slice(0, -1)) await end(id, kind, how)
    await end(id, last?.[0] ?? "", FAILURE)
    expect(await read(`/jobs/${id}`)).toMatchObject({ status: "failed", outputs: [] })
    for (const file of z.array(z.object({}).loose()).parse(await read("/files"))) {
      expect(file).not.toHaveProperty("public_url")
    }
  })

  it.each(CREATES)("keeps its outputs private without it: POST %s", async (path, body, ends) => {
    const id = await create(path, { ...body(), publish: false })
    for (const [kind, how] of ends) await end(id, kind, how)
    const { outputs } = z
      .object({ outputs: z.array(z.looseObject({})) })
      .parse(await read(`/jobs/${id}`))
    for (const output of outputs) expect(output).not.toHaveProperty("public_url")
  })

  it("shows public outputs in records of commands and normalizations", async () => {
    const command = {
      output_files: { out_1: "a.mp4" },
      ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 out_1",
    }
    const commandId = await create("/commands", { ...command, publish: true })
    await end(commandId, "command", COMMANDED)
    const public_url = expect.stringContaining("https://lathe.test/public/1/")
    const ofCommand = await read(`/commands/${commandId}`)
    expect(ofCommand).toMatchObject({ output_files: { out_1: { public_url } } })
    expect(ofCommand).not.toHaveProperty("original_request.publish")
    const normalizeId = await create("/normalize", { file_url: input, publish: true })
    await end(normalizeId, "normalize", { result: makeNormalizeResult() })
    expect(await read(`/normalize/${normalizeId}`)).toMatchObject({ outputs: [{ public_url }] })
  })

  it("applies to the retry of the job", async () => {
    const id = await create("/normalize", { file_url: input, publish: true })
    await end(id, "normalize", FAILURE)
    const retried = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    const { id: again } = await retried.json<{ id: string }>()
    await end(again, "normalize", { result: makeNormalizeResult() })
    expect(record.parse(await read(`/jobs/${again}`)).outputs).toHaveLength(1)
  })

  it("may stand in the transcode of a fetch, and needs one", async () => {
    const transcode = { outputs: RENDITIONS, publish: true }
    const id = await create("/fetch", { url: PAGE, transcode })
    await end(id, "fetch", { result: makeFetchResult() })
    await end(id, "render", { result: makeRenderResult("out_1") })
    expect(record.parse(await read(`/jobs/${id}`)).outputs).toHaveLength(1)
    const refused = await caller.post("/fetch", { url: PAGE, publish: true })
    expect(refused.status).toBe(422)
    expect((await readProblem(refused)).details).toMatchObject([
      { field: "publish", message: expect.stringContaining("expected transcode beside it") },
    ])
    expect((await caller.post("/fetch", { url: PAGE, publish: false })).status).toBe(202)
  })

  it.each(["/transcribe", "/fetch/metadata"])("is no field of POST %s", async (path) => {
    const answer = await caller.post(path, { url: PAGE, file_url: PAGE, publish: true })
    expect(answer.status).toBe(422)
    expect((await readProblem(answer)).details).toContainEqual(
      expect.objectContaining({ field: "publish" }),
    )
  })

  it.each(["yes", 1, null])("refuses %j", async (publish) => {
    const answer = await caller.post("/normalize", { file_url: input, publish })
    expect(answer.status).toBe(422)
    expect((await readProblem(answer)).details).toMatchObject([{ field: "publish" }])
  })

  it("needs a key that may publish", async () => {
    const reader = await makeCaller(crypto.randomUUID(), "paid", { scopes: ["read"] })
    for (const [path, body] of CREATES) {
      const answer = await reader.post(path, { ...body(), publish: true })
      expect([path, answer.status]).toEqual([path, 403])
    }
  })
})

describe("the withdrawal of an output that its job published", () => {
  it("removes the public URLs from the record of the job", async () => {
    const id = await create("/normalize", { file_url: input, publish: true })
    await end(id, "normalize", { result: makeNormalizeResult() })
    const [output] = record.parse(await read(`/jobs/${id}`)).outputs
    await caller.call(`/files/${output?.id}/publish`, { method: "DELETE" })
    const { outputs } = z
      .object({ outputs: z.array(z.looseObject({})) })
      .parse(await read(`/jobs/${id}`))
    expect(outputs).toHaveLength(1)
    expect(outputs[0]).not.toHaveProperty("public_url")
  })
})

describe("POST /files with publish", () => {
  async function uploadPublic(publish: string): Promise<Response> {
    const form = new FormData()
    form.append("file", new File(["bytes"], "a film.webm"))
    form.append("publish", publish)
    return await caller.call("/files", { method: "POST", body: form })
  }

  it("makes an upload public once it is probed", async () => {
    const answer = await uploadPublic("true")
    const file = await answer.json<{ id: string }>()
    expect([answer.status, file]).toEqual([
      201,
      expect.not.objectContaining({ public_url: expect.anything() }),
    ])
    const public_url = `https://lathe.test/public/1/${file.id}/a%20film.webm`
    expect(await statusOf(public_url)).toBe(404)
    await end(file.id, "probe", PROBE_TASK_END)
    expect(await read(`/files/${file.id}`)).toMatchObject({ status: "success", public_url })
    expect(await read(`/jobs/${file.id}`)).toMatchObject({ outputs: [{ public_url }] })
    expect(await statusOf(public_url)).toBe(200)
  })

  it("keeps an upload private that is no media, and without the flag", async () => {
    for (const [publish, how] of [
      ["true", { failure: { code: "probe_failed", message: "It is no media." } }],
      ["false", PROBE_TASK_END],
    ] as const) {
      const { id } = await (await uploadPublic(publish)).json<{ id: string }>()
      await end(id, "probe", how)
      expect(await read(`/files/${id}`)).not.toHaveProperty("public_url")
    }
  })

  it("refuses another text in a form", async () => {
    const answer = await uploadPublic("maybe")
    expect(answer.status).toBe(422)
    expect((await readProblem(answer)).details).toMatchObject([{ field: "publish" }])
  })

  it("makes an import public once it is probed, under its final name", async () => {
    const answer = await caller.post("/files", { file_url: PAGE, publish: true })
    const { id } = await answer.json<{ id: string }>()
    await end(id, "import", makeImportEnd({ name: "The film.webm" }))
    expect(await read(`/files/${id}`)).not.toHaveProperty("public_url")
    await end(id, "probe", PROBE_TASK_END)
    const public_url = `https://lathe.test/public/1/${id}/The%20film.webm`
    expect(await read(`/files/${id}`)).toMatchObject({ public_url })
  })

  it("is not applied to an upload that was withdrawn before its probe", async () => {
    const { id } = await (await uploadPublic("true")).json<{ id: string }>()
    expect((await caller.call(`/files/${id}/publish`, { method: "DELETE" })).status).toBe(200)
    await end(id, "probe", PROBE_TASK_END)
    expect(await read(`/files/${id}`)).not.toHaveProperty("public_url")
  })
})
