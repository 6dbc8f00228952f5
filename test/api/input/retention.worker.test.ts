import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { app } from "../../../src/app.ts"
import { makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { postNormalizeForm, makeFormFile } from "../../support/media/kind-upload.ts"

type Refusal = { details: { field: string; message: string }[] }

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("retention", "trial")
})

async function faultsOf(answer: Response): Promise<Refusal["details"]> {
  expect(answer.status).toBe(422)
  const { details } = await answer.json<Refusal>()
  return details.map(({ field, message }) => ({ field, message }))
}

const EXPECTED = "expected a whole number of seconds from 60 to 31622400"

describe("expires_in", () => {
  it.each([
    [59],
    [31_622_401],
    [1.5],
    [-1],
    ["3600", "; write `3600`, without quotes"],
    ["1h", "; write `3600`"],
    ["2 days", "; write `172800`"],
    ["-1"],
    ["59"],
    ["30s"],
    ["soon"],
    [true],
  ])("gets a 422 for %j in a create", async (given, remedy = "") => {
    const { id } = await uploadTestFile(caller, "a.wav", "x")
    const body = { file_url: `svc_id://${id}`, expires_in: given }
    const answer = await caller.post("/normalize", body)
    const message = `${EXPECTED}${remedy}`
    expect(await faultsOf(answer)).toEqual([{ field: "expires_in", message }])
  })

  it.each(["59", "-1", "x", "60.5"])("gets a 422 for %j in a form", async (given) => {
    const expected = [{ field: "expires_in", message: EXPECTED }]
    const form = await postNormalizeForm(caller, [
      ["file", makeFormFile()],
      ["expires_in", given],
    ])
    expect(await faultsOf(form)).toEqual(expected)
    const body = new FormData()
    body.append("file", makeFormFile())
    body.append("expires_in", given)
    expect(await faultsOf(await caller.call("/files", { method: "POST", body }))).toEqual(expected)
  })

  it("is refused if a fetch with renditions has it twice", async () => {
    const outputs = [{ codec: "h264", resolution: "480p" }]
    const transcode = { outputs, expires_in: 60 }
    const body = { url: "https://a.example/", transcode, expires_in: 60 }
    const answer = await caller.post("/fetch", body)
    expect(answer.status).toBe(400)
    expect((await answer.json<{ message: string }>()).message).toContain(
      "transcode.expires_in: expected this field either in transcode or at the top level, not in both",
    )
  })
})

describe("RETENTION_DAYS", () => {
  async function send(path: string, body: object): Promise<Response> {
    const request = new Request(`https://lathe.test/v1${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": caller.key },
      body: JSON.stringify(body),
    })
    const kept = { ...env, RETENTION_DAYS: "10" }
    return await app.fetch(request, kept, createExecutionContext())
  }

  it("is the default retention and the longest that a job may request", async () => {
    const { id } = await uploadTestFile(caller, "a.wav", "x")
    const body = { file_url: `svc_id://${id}` }
    async function keptOf(more: object): Promise<unknown> {
      const answer = await send("/normalize", { ...body, ...more })
      expect(answer.status).toBe(202)
      const { normalization_id } = await answer.json<{ normalization_id: string }>()
      const row = env.DB.prepare("select retention_ms from jobs where id = ?").bind(
        normalization_id,
      )
      return await row.first("retention_ms")
    }
    expect(await keptOf({})).toBe(864_000_000)
    expect(await keptOf({ expires_in: 864_000 })).toBe(864_000_000)
    expect(await keptOf({ expires_in: 60 })).toBe(60_000)
    const message = "expected at most 864000, the longest retention of this service"
    const refused = await send("/normalize", { ...body, expires_in: 864_001 })
    expect(await faultsOf(refused)).toEqual([{ field: "expires_in", message }])
    const url = { file_url: "https://a.example/a.mp4", expires_in: 864_001 }
    expect(await faultsOf(await send("/files", url))).toEqual([{ field: "expires_in", message }])
  })
})
