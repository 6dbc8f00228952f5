import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { app } from "../../../src/app.ts"
import { TOOL_UNAVAILABLE } from "../../../src/contract/runner-health.ts"
import { makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { makeCommandBody } from "../../support/media/command-request.ts"

const SANDBOX = { ok: true, supported: true, problem: null, loss: null, network_problem: null }

describe("a create whose tasks need a tool", () => {
  let caller: TestCaller
  let fileId: string

  beforeEach(async () => {
    caller = await makeCaller("required-tools")
    fileId = (await uploadTestFile(caller, "clip.mp4", "media")).id
  })

  /** Creates a command on a service whose runner reports this health. */
  async function create(
    health: () => Promise<Response> | Response,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const body = JSON.stringify(makeCommandBody(fileId))
    return await send(health, { method: "POST", path: "/commands", body, headers })
  }

  async function send(
    health: () => Promise<Response> | Response,
    {
      path,
      headers,
      ...init
    }: Pick<RequestInit, "method" | "body"> & {
      path: string
      headers?: Record<string, string>
    },
  ): Promise<Response> {
    const request = new Request(`https://lathe.test/v1${path}`, {
      ...init,
      headers: { "x-api-key": caller.key, "content-type": "application/json", ...headers },
    })
    const runner = {
      fetch: async ({ signal }: Request) =>
        await Promise.race([Promise.resolve().then(health), untilAborted(signal)]),
    }
    return await app.fetch(request, { ...env, RUNNER: runner }, createExecutionContext())
  }

  function untilAborted(signal: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("late")))
    })
  }

  function healthWith(facts: object): () => Response {
    return () => Response.json({ status: "ok", sandbox: SANDBOX, ...facts })
  }

  it("gets a 503 that names the missing tool, and creates no job", async () => {
    const answer = await create(healthWith({ ffmpeg: TOOL_UNAVAILABLE, ffprobe: "7.1" }))
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({
      code_name: "tool_missing",
      message: expect.stringMatching(/^This service cannot process media: ffmpeg is not installed/),
    })
    const jobs = await caller.call("/jobs?kind=command")
    expect(await jobs.json()).toEqual([])
  })

  it("gets a 503 if the sandbox cannot give the needed tools access to the web", async () => {
    const sandbox = {
      ...SANDBOX,
      network_problem: "Tools of this sandbox cannot be given a network.",
    }
    const health = healthWith({ sandbox, ffmpeg: "7.1", "yt-dlp": "2031.4.9" })
    expect((await create(health)).status).toBe(202)
    const url = "https://video.example.com/watch?v=1"
    for (const [method, path, body] of [
      ["POST", "/fetch", { url }],
      ["POST", "/fetch/metadata", { url }],
      ["POST", "/files", { file_url: url }],
      ["POST", "/commands", makeCommandBody(fileId, { input_files: { in_1: url } })],
    ] as const) {
      const answer = await send(health, { method, path, body: JSON.stringify(body) })
      expect({ path, status: answer.status }).toEqual({ path, status: 503 })
      expect(await answer.json()).toMatchObject({
        code_name: "tool_missing",
        message:
          "This service cannot fetch from the web: the sandbox of this system cannot give yt-dlp a network. Ask the operator of this service.",
      })
    }
    expect(await (await caller.call("/jobs?kind=fetch")).json()).toEqual([])
  })

  it("gets a 503 for a transcription without whisper, in both forms; other kinds work", async () => {
    const health = healthWith({ ffmpeg: "7.1", ffprobe: "7.1", whisper: TOOL_UNAVAILABLE })
    const reference = `svc_id://${fileId}`
    for (const body of [{ file_url: reference }, { source: reference }]) {
      const sent = { method: "POST", path: "/transcribe", body: JSON.stringify(body) }
      const answer = await send(health, sent)
      expect(answer.status).toBe(503)
      expect(await answer.json()).toMatchObject({
        code_name: "tool_missing",
        message: expect.stringMatching(/^This service cannot transcribe speech: whisper is not/),
      })
    }
    expect(await (await caller.call("/jobs?kind=transcribe")).json()).toEqual([])
    expect((await create(health)).status).toBe(202)
  })

  it.each([
    ["has it, and lacks another one", healthWith({ ffmpeg: "7.1", "yt-dlp": TOOL_UNAVAILABLE })],
    ["does not report it", healthWith({})],
    [
      "has no sandbox to test it in",
      healthWith({ sandbox: { ...SANDBOX, ok: false }, ffmpeg: TOOL_UNAVAILABLE }),
    ],
    ["does not answer", () => Promise.reject(new Error("gone"))],
    ["answers late", () => scheduler.wait(5000).then(healthWith({ ffmpeg: TOOL_UNAVAILABLE }))],
    ["returns an invalid response", () => new Response("what?", { status: 502 })],
  ])("is accepted if the runner %s", async (_, health) => {
    expect((await create(health)).status).toBe(202)
  })

  it("gets its earlier answer if it was accepted before", async () => {
    const once = { "idempotency-key": crypto.randomUUID() }
    const first = await create(healthWith({}), once)
    const second = await create(healthWith({ ffmpeg: TOOL_UNAVAILABLE }), once)
    expect(second.status).toBe(202)
    expect(await second.json()).toEqual(await first.json())
  })
})
