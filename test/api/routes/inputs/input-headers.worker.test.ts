import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { EXAMPLE_INPUT_REFERENCE } from "../../../../src/kinds/reference.ts"
import { signText } from "../../../../src/platform/crypto/signature.ts"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { INPUT_FORMS } from "../../../support/inputs-with-headers.ts"
import {
  countTaskSecrets,
  readRefusalFaults,
  PRIVATE_FILE_URL,
} from "../../../support/private-inputs.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  makeImportEnd,
  NOT_FOUND_TASK_END,
  PROBE_TASK_END,
  readJob,
} from "../../../support/runner/stand-in-runner.ts"

const SECRET = "a-value-that-nobody-sees"
const HEADERS = { "X-A": "a" }

let caller: TestCaller
let accountId: string

beforeAll(async () => {
  caller = await makeCaller("input headers")
  accountId = await findCallerAccountId(caller)
})

function privateInput(
  headers: object = { Authorization: `Bearer ${SECRET}` },
  url = PRIVATE_FILE_URL,
) {
  return { url, headers }
}

/** Creates a command with these inputs. */
async function createCommand(input_files: object): Promise<string> {
  const named = Object.keys(input_files).map((key) => `-i {{${key}}}`)
  const answer = await caller.post("/commands", {
    input_files,
    output_files: { out_1: "out.mkv" },
    ffmpeg_command: `ffmpeg ${named.join(" ")} {{out_1}}`,
  })
  expect(answer.status).toBe(202)
  return (await answer.json<{ command_id: string }>()).command_id
}

describe("headers of a command's inputs", () => {
  const [form] = INPUT_FORMS
  if (!form) throw new Error("there is no form")

  it.each([
    [{ range: "bytes=1-" }, /^headers\.range: this header is not allowed/],
    [{ "X-A": "a\r\nHost: b" }, /^headers\.X-A: expected visible ASCII/],
    [{ "X-A": "a\0b" }, /^headers\.X-A: expected visible ASCII/],
    [{ "X-A": "š" }, /^headers\.X-A: expected visible ASCII/],
    [{ "X-A": "a", "x-a": "b" }, /^headers\.x-a: the header exists twice/],
    [{ "X A": "a" }, /^headers: the name of header 1/],
    [{ "X-A": "a".repeat(5000) }, /^headers: expected at most 4096 bytes/],
    [{}, /^headers: expected at least one header/],
    ["Bearer", /^headers: expected an object of strings/],
    [null, /^headers: expected an object of strings/],
    [
      Object.fromEntries(Array.from({ length: 11 }, (_each, index) => [`X-${index}`, "a"])),
      /^headers: expected at most 10 headers, and there are 11/,
    ],
  ])("may not be %j", async (headers, expected) => {
    const faults = await readRefusalFaults(caller, form, { url: PRIVATE_FILE_URL, headers })
    expect(faults.startsWith(`${form.field}.`)).toBe(true)
    expect(faults.slice(form.field.length + 1)).toMatch(expected)
  })

  it.each([
    ["http://media.example:8443/film.mp4", /^url: expected an https URL, because/],
    ["s3://films/film.mp4", /^url: expected an https URL/],
    ["https://www.youtube.com/watch?v=1", /^url: expected the URL of a file/],
    ["https://media.example/live/index.m3u8?t=1", /^url: expected the URL of a file/],
    ["https://media.example/page.html", /^url: expected the URL of a file/],
    ["https://127.0.0.1/film.mp4", /^url: expected a public host/],
    ["https://u:p@media.example/film.mp4", /^url: expected a URL without a user/],
    [EXAMPLE_INPUT_REFERENCE, /^url: expected the URL of another server/],
    ["film.mp4", /^url: /],
  ])("do not go with %s", async (url, expected) => {
    const faults = await readRefusalFaults(caller, form, privateInput(undefined, url))
    expect(faults.slice(form.field.length + 1)).toMatch(expected)
  })

  it("go only beside a URL", async () => {
    expect(await readRefusalFaults(caller, form, { ...privateInput(), method: "POST" })).toBe(
      `${form.field}.method: unknown field`,
    )
    expect(await readRefusalFaults(caller, form, { headers: HEADERS })).toBe(
      `${form.field}.url: it is missing: expected a URL`,
    )
  })

  it("may be 64 times 10 of 4 KB in one request", async () => {
    const headers = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`X-Header-${index}`, "a".repeat(396)]),
    )
    const inputs = Array.from({ length: 64 }, (_, index) => {
      return [`in_${index}`, privateInput(headers, `${PRIVATE_FILE_URL}?${index}`)] as const
    })
    const id = await createCommand(Object.fromEntries(inputs))
    expect(await countTaskSecrets(id)).toBe(64)
    await caller.call(`/jobs/${id}`, { method: "DELETE" })
  })

  it("are shown as the URL alone in original_request, like a text", async () => {
    const id = await createCommand({ in_1: privateInput(), in_2: PRIVATE_FILE_URL })
    const record = await (await caller.call(`/commands/${id}`)).json()
    expect(record).toMatchObject({
      original_request: { input_files: { in_1: PRIVATE_FILE_URL, in_2: PRIVATE_FILE_URL } },
    })
    await caller.call(`/jobs/${id}`, { method: "DELETE" })
  })

  it("make imports of their own where they differ, and one where they are the same", async () => {
    const id = await createCommand({
      in_1: privateInput(),
      in_2: privateInput(),
      in_3: privateInput({ Authorization: "Bearer other" }),
      in_4: PRIVATE_FILE_URL,
    })
    const { tasks } = await readJob(accountId, id)
    expect(tasks.filter(({ work }) => work.kind === "import")).toHaveLength(3)
    expect(await countTaskSecrets(id)).toBe(2)
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    const both = { Authorization: "Bearer a" }
    const differing = { "input_files.in_1": both, "input_files.in_2": { "X-A": "a" } }
    const other = { "input_files.in_3": { Authorization: "Bearer b" } }
    const refused = await caller.post(`/jobs/${id}/retry`, { headers: { ...differing, ...other } })
    expect(await refused.json()).toMatchObject({
      details: [
        {
          field: "headers.input_files.in_2",
          message: "expected headers only for input_files.in_1, input_files.in_3",
        },
      ],
    })
    const headers = { "input_files.in_1": both, ...other }
    const retried = await caller.post(`/jobs/${id}/retry`, { headers })
    expect(retried.status).toBe(202)
    const { id: jobId } = await retried.json<{ id: string }>()
    expect(await countTaskSecrets(jobId)).toBe(2)
    await caller.call(`/jobs/${jobId}`, { method: "DELETE" })
  })

  it.each([
    ["succeeds", makeImportEnd()],
    ["fails", NOT_FOUND_TASK_END],
  ])("are deleted when their import %s", async (_, end) => {
    const id = await createCommand({ in_1: privateInput(), in_2: "https://media.example/b.mp4" })
    expect(await countTaskSecrets(id)).toBe(1)
    const task = await findTaskByKind(
      accountId,
      id,
      "import",
      ({ work }) => work.has_headers === true,
    )
    await claimAndEndTask(task, end)
    expect(await countTaskSecrets(id)).toBe(0)
    expect(await (await caller.call(`/jobs/${id}`)).json()).toMatchObject({
      status: end === NOT_FOUND_TASK_END ? "failed" : "processing",
    })
    await caller.call(`/jobs/${id}`, { method: "DELETE" })
  })

  it("name the input whose import failed", async () => {
    const id = await createCommand({ in_1: privateInput() })
    const failure = { code: "not_a_file" as const, message: "The server sent a web page." }
    await claimAndEndTask(await findTaskByKind(accountId, id, "import"), { failure })
    expect(await (await caller.call(`/commands/${id}`)).json()).toMatchObject({
      status: "failed",
      error: expect.stringContaining("in_1") as unknown,
    })
  })

  it("are needed by no retry of a job without any", async () => {
    const id = await createCommand({ in_1: PRIVATE_FILE_URL })
    const task = await findTaskByKind(accountId, id, "import")
    await claimAndEndTask(task, makeImportEnd())
    await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), PROBE_TASK_END)
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    const empty = { method: "POST", headers: { "content-type": "application/json" } }
    const answer = await caller.call(`/jobs/${id}/retry`, empty)
    expect(answer.status).toBe(202)
    const { id: jobId } = await answer.json<{ id: string }>()
    await caller.call(`/jobs/${jobId}`, { method: "DELETE" })
  })

  it("are compared by a keyed hash, which confirms no guess without the secret", async () => {
    const id = await createCommand({ in_1: privateInput() })
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    const key = crypto.randomUUID()
    const body = { headers: { "input_files.in_1": { "X-Key": "guessable" } } }
    const init = {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify(body),
    }
    const { id: jobId } = await (
      await caller.call(`/jobs/${id}/retry`, init)
    ).json<{ id: string }>()
    const query = env.DB.prepare("select body_hash from idempotency where key = ?").bind(key)
    const text = JSON.stringify(["POST", `/v1/jobs/${id}/retry`, body])
    const keyed = await signText(env.LATHE_SECRET ?? "", "idempotency", text)
    expect(await query.first("body_hash")).toBe(keyed)
    await caller.call(`/jobs/${jobId}`, { method: "DELETE" })
  })

  it("are judged by POST /commands/validate too", async () => {
    const body = {
      input_files: { in_1: privateInput({ Host: SECRET }), in_2: privateInput() },
      output_files: { out_1: "out.mkv" },
      ffmpeg_command: "ffmpeg -i {{in_1}} -i {{in_2}} {{out_1}}",
    }
    const answer = await (await caller.post("/commands/validate", body)).text()
    expect(answer).not.toContain(SECRET)
    expect(JSON.parse(answer)).toMatchObject({
      valid: false,
      errors: [{ field: "input_files.in_1.headers.Host" }],
    })
    const right = { ...body, input_files: { in_1: privateInput(), in_2: privateInput() } }
    expect(await (await caller.post("/commands/validate", right)).json()).toMatchObject({
      valid: true,
      errors: [],
    })
  })
})

describe("headers of a fetch", () => {
  it.each([
    ["quality", "720p"],
    ["audio_format", "mp3"],
    ["subtitles", ["en"]],
    ["start", 1],
    ["end", 2],
  ])("are refused beside %s, which only yt-dlp follows", async (field, value) => {
    const answer = await caller.post("/fetch", { url: privateInput(), [field]: value })
    expect(answer.status).toBe(422)
    expect(await answer.json()).toMatchObject({
      details: [{ field, message: expect.stringContaining("no value beside headers") as unknown }],
    })
  })

  it("are refused beside cookies", async () => {
    const cookies = ["media.example", "FALSE", "/", "FALSE", "0", "session", SECRET].join("\t")
    const answer = await caller.post("/fetch", { url: privateInput(), cookies })
    expect(answer.status).toBe(422)
    expect(await answer.json()).toMatchObject({ details: [{ field: "cookies" }] })
  })
})

describe("a form", () => {
  it.each([
    ["/files", "file_url"],
    ["/normalize", "file_url"],
    ["/transcribe", "file_url"],
    ["/transcribe", "source"],
  ])("of %s has no headers: %s is a text there", async (path, field) => {
    const body = new FormData()
    body.append(field, JSON.stringify(privateInput()))
    const answer = await caller.call(path, { method: "POST", body })
    expect(answer.status).toBe(field === "source" ? 400 : 422)
    expect(await answer.text()).toContain(`${field}: `)
  })
})
