import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { app } from "../../../src/app.ts"
import { TOOL_UNAVAILABLE } from "../../../src/contract/runner-health.ts"
import { createIncomingFile } from "../../../src/objects/incoming-file.ts"
import { sweepDirectly } from "../../support/sweep.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { makeFormFile, postNormalizeForm } from "../../support/media/kind-upload.ts"
import { countAccountData, NO_ACCOUNT_DATA } from "../../support/left-over.ts"
import type { FormPart } from "../../support/media/kind-upload.ts"
import { readProblem } from "../../support/problem.ts"

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`refused uploads ${crypto.randomUUID()}`)
  accountId = await findCallerAccountId(caller)
})

describe("a refused create with a file", () => {
  it.each<[string, FormPart[], string[]]>([
    ["nothing", [["loudnorm_i", "-16"]], ["file"]],
    ["an empty file", [["file", makeFormFile("")]], ["file"]],
    [
      "two files",
      [
        ["file", makeFormFile()],
        ["file", makeFormFile()],
      ],
      ["file"],
    ],
    ["an unknown file field", [["sound", makeFormFile()]], ["sound"]],
    ["a file instead of a field", [["file_url", makeFormFile()]], ["file_url"]],
    [
      "both",
      [
        ["file", makeFormFile()],
        ["file_url", "https://media.example/a.wav"],
      ],
      ["file_url"],
    ],
    [
      "a repeated field",
      [
        ["loudnorm_i", "-16"],
        ["loudnorm_i", "-17"],
        ["file", makeFormFile()],
      ],
      ["loudnorm_i"],
    ],
    [
      "all kinds of fields",
      [
        ["file", makeFormFile()],
        ["loudnorm_i", "loud"],
        ["loudnorm_lra", "0.9"],
        ["loudnorm_tp", ""],
        ["metadata", "{"],
        ["priority", "1.5"],
        ["webhook", "http://10.0.0.1/"],
        ["colour", "red"],
      ],
      ["loudnorm_i", "loudnorm_lra", "loudnorm_tp", "metadata", "priority", "colour", "webhook"],
    ],
    [
      "both, and more",
      [
        ["file", makeFormFile()],
        ["file_url", "x"],
        ["loudnorm_i", "x"],
      ],
      ["file_url", "loudnorm_i"],
    ],
    ["a reference to nothing", [["file_url", `svc_id://${crypto.randomUUID()}`]], ["file_url"]],
  ])("reports each fault of %s and keeps nothing", async (_, parts, fields) => {
    const answer = await postNormalizeForm(caller, parts)
    expect(answer.status).toBe(422)
    expect((await readProblem(answer)).details.map(({ field }) => field)).toEqual(fields)
    expect(await countAccountData(accountId)).toEqual(NO_ACCOUNT_DATA)
  })

  it("reports a malformed field as a JSON body does", async () => {
    const given = {
      file_url: "x",
      loudnorm_i: "loud",
      loudnorm_tp: 0.5,
      metadata: [],
      priority: "x",
    }
    const json = await readProblem(await caller.post("/normalize", given))
    const form = await readProblem(
      await postNormalizeForm(caller, [
        ["file_url", "x"],
        ["loudnorm_i", "loud"],
        ["loudnorm_tp", "0.5"],
        ["metadata", "[]"],
        ["priority", "x"],
      ]),
    )
    expect(form.details).toEqual(json.details)
    expect(form.details.length).toBe(5)
  })

  it("explains to a JSON body with `file` how to send a file", async () => {
    const answer = await caller.post("/normalize", { file: "bytes", loudnorm_i: 1 })
    expect(answer.status).toBe(422)
    const { details } = await readProblem(answer)
    expect(details.map(({ field }) => field)).toEqual(["loudnorm_i", "file"])
    expect(JSON.stringify(details)).toContain("multipart/form-data")
  })

  it("explains to a JSON body without an input what is expected", async () => {
    const { details } = await readProblem(await caller.post("/normalize", {}))
    const [message = ""] = details.map((detail) => detail.message)
    expect(details).toMatchObject([{ field: "file_url" }])
    expect(message).toContain("expected svc_id://<uuid>, svc_id://<job id>/<output>, a File's")
    expect(message).toContain("-F file=@film.mp4 https://lathe.test/v1/normalize")
  })

  it("names both media types that a body may have", async () => {
    const headers = { "content-type": "text/plain" }
    const answer = await caller.call("/normalize", { method: "POST", body: "{}", headers })
    expect(answer.status).toBe(415)
    expect((await readProblem(answer)).detail).toBe(
      'Send the body as application/json, or a file as multipart/form-data: `curl -H "X-API-KEY: $KEY" -F file=@film.mp4 https://lathe.test/v1/normalize`',
    )
  })

  it("gets a 413 for a file over the limit, and keeps nothing", async () => {
    const answer = await postNormalizeForm(caller, [
      ["file", makeFormFile("x".repeat(32 * 1024 * 1024))],
    ])
    expect(answer.status).toBe(413)
    expect(await countAccountData(accountId)).toEqual(NO_ACCOUNT_DATA)
  })
})

describe("a create with a file and an Idempotency-Key", () => {
  async function sendOnce(content: string, loudness: string, name = "talk.wav") {
    const parts: FormPart[] = [
      ["loudnorm_i", loudness],
      ["file", makeFormFile(content, name)],
    ]
    const answer = await postNormalizeForm(caller, parts, { "idempotency-key": "once" })
    const isReplayed = answer.headers.get("idempotent-replayed")
    const { normalization_id: id } = await answer.json<{ normalization_id?: string }>()
    return { status: answer.status, id, isReplayed }
  }

  it("creates one job for the same bytes, name and fields, and stores them once", async () => {
    const first = await sendOnce("bytes", "-16")
    expect(first).toMatchObject({ status: 202, isReplayed: null })
    expect(await sendOnce("bytes", "-16.0")).toEqual({ ...first, isReplayed: "true" })
    for (const other of [
      await sendOnce("bytez", "-16"),
      await sendOnce("bytes", "-17"),
      await sendOnce("bytes", "-16", "other.wav"),
    ]) {
      expect(other.status).toBe(409)
    }
    expect(await countAccountData(accountId)).toMatchObject({
      files: 2,
      uploads: 0,
      jobs: 1,
      objects: 1,
    })
  })

  it("creates one job in both forms for the URL of a file", async () => {
    const headers = { "idempotency-key": "form", "content-type": "application/json" }
    const file_url = "https://media.example/a.wav"
    const body = JSON.stringify({ file_url, loudnorm_i: -16 })
    const json = await caller.call("/normalize", { method: "POST", body, headers })
    const form = await postNormalizeForm(
      caller,
      [
        ["file_url", file_url],
        ["loudnorm_i", "-16"],
      ],
      { "idempotency-key": "form" },
    )
    expect(await form.json()).toEqual(await json.json())
  })
})

describe("a create that fails after its file is stored", () => {
  /** Sends a form to a service with other bindings. */
  async function sendTo(bindings: Record<string, unknown>): Promise<Response> {
    const body = new FormData()
    body.append("file", makeFormFile())
    const headers = { "x-api-key": caller.key }
    const url = "https://lathe.test/v1/normalize"
    const context = createExecutionContext()
    const request = new Request(url, { method: "POST", headers, body })
    const answer = await app.fetch(request, { ...env, ...bindings }, context)
    await waitOnExecutionContext(context)
    return answer
  }

  it("keeps nothing if no runner has the tool", async () => {
    const sandbox = { ok: true, supported: true, problem: null, loss: null, network_problem: null }
    const health = { status: "ok", boot: "boot", sandbox, ffmpeg: TOOL_UNAVAILABLE, ffprobe: "7.1" }
    const RUNNER = { fetch: async () => Response.json(health) }
    const answer = await sendTo({ RUNNER })
    expect([answer.status, (await readProblem(answer)).code_name]).toEqual([503, "tool_missing"])
    expect(await countAccountData(accountId)).toEqual(NO_ACCOUNT_DATA)
  })

  it("keeps nothing if the job cannot be written", async () => {
    const DB = new Proxy(env.DB, {
      get(database, name) {
        if (name === "batch") return database.batch.bind(database)
        return (sql: string) => {
          if (sql.startsWith('insert into "jobs"')) throw new Error("D1 does not answer")
          return database.prepare(sql)
        }
      },
    })
    expect((await sendTo({ DB })).status).toBe(500)
    expect(await countAccountData(accountId)).toEqual(NO_ACCOUNT_DATA)
  })

  it("leaves its bytes to the garbage collection if the service dies before writing the job", async () => {
    const part = { bytesMax: 5, contentType: "audio/wav" }
    const incoming = createIncomingFile(env, accountId, part)
    await incoming.write(new TextEncoder().encode("bytes"), 0)
    await incoming.finish()
    expect(await countAccountData(accountId)).toEqual({
      ...NO_ACCOUNT_DATA,
      uploads: 1,
      objects: 1,
    })
    await sweepDirectly(env, Date.now() + 25 * 3_600_000)
    expect(await countAccountData(accountId)).toEqual(NO_ACCOUNT_DATA)
  })
})
