import { env } from "cloudflare:workers"
import { createExecutionContext } from "cloudflare:test"
import { describe, expect, it } from "vitest"
import { app } from "../../../src/app.ts"
import { makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { readProblem } from "../../support/problem.ts"

// PAID_REQUESTS_PER_MINUTE is 5 in these tests.
const LIMIT = 5
const TRIAL = 20_000
const CALLERS = 64
const POLICY = `"requests";q=${TRIAL};w=60`

/** Returns the remaining allowance of the trial plan in a response. */
function leftOf({ headers }: Response): number {
  expect(headers.get("ratelimit-policy")).toBe(POLICY)
  const [, left, seconds] =
    /^"requests";r=(\d+);t=(\d+)$/.exec(headers.get("ratelimit") ?? "") ?? []
  expect(Number(seconds)).toBeGreaterThan(0)
  expect(Number(seconds)).toBeLessThanOrEqual(60)
  return Number(left)
}

async function makeCommand({ post }: TestCaller): Promise<Response> {
  return await post("/commands", {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.mp4" },
  })
}

/** Sends a request to the Worker in an environment with other bindings. */
async function askIn(bindings: object, { key }: TestCaller): Promise<Response> {
  const request = new Request("https://lathe.test/v1/files", { headers: { "x-api-key": key } })
  return await app.fetch(request, { ...env, ...bindings }, createExecutionContext())
}

function broken(what: string): object {
  function fail(): never {
    throw new Error(`${what} is away`)
  }
  return new Proxy({}, { get: () => fail })
}

describe("the remaining allowance", () => {
  it("is in every kind of response, one less each time", async () => {
    const caller = await makeCaller("told")
    const file = await uploadTestFile(caller, "a.txt", "text")
    const created = await makeCommand(caller)
    const { command_id: id } = await created.clone().json<{ command_id: string }>()
    const stream = await caller.call(`/jobs/${id}/events`)
    const answers: [number, Response][] = [
      [202, created],
      [200, stream],
      [200, await caller.call("/files")],
      [200, await caller.call("/files", { method: "HEAD" })],
      [302, await caller.call(`/files/${file.id}/a.txt`)],
      [404, await caller.call(`/files/${crypto.randomUUID()}`)],
      [404, await caller.call("/no-such-path")],
      [405, await caller.call("/files", { method: "PATCH" })],
      [415, await caller.call("/commands", { method: "POST", body: "text" })],
      [422, await caller.post("/commands", {})],
      [422, await caller.call("/files?nonsense=1")],
      [200, await caller.post(`/jobs/${id}/cancel`, {})],
      [409, await caller.post(`/jobs/${id}/cancel`, {})],
    ]
    expect(answers.map(([, { status }]) => status)).toEqual(answers.map(([status]) => status))
    // The upload took one, whose response is not checked here.
    expect(answers.map(([, answer]) => leftOf(answer))).toEqual(
      answers.map((_, index) => TRIAL - 2 - index),
    )
    await stream.body?.cancel()
    const lastEvent = await caller.call(`/jobs/${id}/events`)
    const seen = /^id: (.*)$/m.exec(await lastEvent.text())?.[1] ?? ""
    const over = await caller.call(`/jobs/${id}/events`, { headers: { "last-event-id": seen } })
    expect([over.status, leftOf(over)]).toEqual([204, TRIAL - 2 - answers.length - 1])
  })

  it("is in the response to an unexpected error", async () => {
    const answer = await askIn({ DB: broken("D1") }, await makeCaller("told of an error"))
    expect([answer.status, leftOf(answer)]).toEqual([500, TRIAL - 1])
  })

  it("is in no response to an unknown caller", async () => {
    const { call } = await makeCaller("known")
    const answer = await call("/files", { headers: { authorization: "Bearer other" } })
    expect([answer.status, answer.headers.get("ratelimit")]).toEqual([400, null])
  })
})

describe("simultaneous callers", () => {
  it("are admitted exactly as often as the plan allows", async () => {
    const caller = await makeCaller("crowd", "paid")
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, async () => await caller.call("/files")),
    )
    const through = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 429)
    expect([through.length, refused.length]).toEqual([LIMIT, CALLERS - LIMIT])
    const left = through.map(({ headers }) => headers.get("ratelimit")?.split(";")[1])
    expect(new Set(left)).toEqual(new Set(["r=0", "r=1", "r=2", "r=3", "r=4"]))
    const [one] = refused
    if (!one) throw new Error("nobody was refused")
    expect(one.headers.get("ratelimit")).toMatch(/r=0;/)
    const { message } = await one.json<{ message: string }>()
    expect(message).toMatch(/^The plan paid allows a key 5 requests a minute; .+ larger plan\.$/)
  })

  it("with several keys of an account are counted separately", async () => {
    const [one, other] = [await makeCaller("shared", "paid"), await makeCaller("shared")]
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, async (_, index) => {
        return await (index % 2 ? one : other).call("/files")
      }),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2 * LIMIT)
  })
})

describe("a key whose lookup fails", () => {
  it("gets an error of the service, and is not called invalid", async () => {
    const limiter = { getByName: () => broken("the limiter") }
    const answer = await askIn({ RATE_LIMITER: limiter }, await makeCaller("unknown for now"))
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"])
    expect((await readProblem(answer)).code_name).toBe("unavailable")
  })
})
