import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { GOLD_PLAN_LIMITS } from "../../support/accounts/own-plan.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const LIMIT_SECONDS = 5
const run = promisify(execFile)

let service: TestService

beforeAll(async () => {
  const settings = { RUNNER_CAPACITY: "1", TRIAL_RUN_SECONDS_MAX: String(LIMIT_SECONDS) }
  service = await startService(settings)
})

afterAll(async () => await service[Symbol.asyncDispose]())

async function keys(words: string[], environment: NodeJS.ProcessEnv = local()): Promise<string> {
  const { stdout } = await run(process.execPath, ["scripts/keys/main.ts", ...words], {
    env: { ...makeChildEnvironment(), ...environment },
  })
  return stdout
}

function local(): NodeJS.ProcessEnv {
  return { PORT: new URL(service.origin).port, STATE_DIR: service.stateDir }
}

async function setPlan(body: unknown, token = service.operator.token): Promise<Response> {
  return await fetch(`${service.origin}/operator/plans`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  })
}

async function ask(key: string, method: string, path: string, more: RequestInit = {}) {
  const headers = { "x-api-key": key, ...Object.fromEntries(new Headers(more.headers)) }
  const answer = await fetch(`${service.origin}/v1${path}`, { ...more, method, headers })
  return z.looseObject({}).parse(await answer.json())
}

/** Asks for a picture of so many seconds, made as slowly as it would be shown. */
async function encode(key: string, seconds: number): Promise<string> {
  const body = await ask(key, "POST", "/commands", {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ffmpeg_command: `ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t ${seconds} {{out_1}}`,
      input_files: {},
      output_files: { out_1: "out.mp4" },
    }),
  })
  return String(body["command_id"])
}

async function planShown(account: string): Promise<string | undefined> {
  const line = (await keys(["list"])).split("\n").find((each) => each.includes(account))
  return line?.split(/ {2,}/)[3]
}

describe("npm run keys -- plan", () => {
  it("changes the plan that list shows and that limits requests", async () => {
    const key = await service.makeKey("account-by-name", "trial")
    expect(await planShown("account-by-name")).toBe("trial")
    expect(await keys(["plan", "account-by-name", "paid"])).toBe(
      "Account account-by-name has the plan paid.\n",
    )
    expect(await planShown("account-by-name")).toBe("paid")
    const { headers } = await fetch(`${service.origin}/v1/files`, { headers: { "x-api-key": key } })
    expect(headers.get("ratelimit-policy")).toContain("q=60000")
  })

  it("changes the plan on a remote deployment, with its operator token", async () => {
    await service.makeKey("../a far & odd/name", "trial")
    const words = ["plan", "../a far & odd/name", "paid", "--remote", service.origin]
    await keys(words, { OPERATOR_TOKEN: service.operator.token })
    expect(await planShown("../a far & odd/name")).toBe("paid")
  })

  it("assigns a plan of the operator, and fails with a sentence for an unknown plan", async () => {
    const unknown = expect.stringContaining("unknown plan studio")
    await expect(keys(["create", "--account", "miner", "--plan", "studio"])).rejects.toMatchObject({
      code: 1,
      stderr: unknown,
    })
    const made = await fetch(`${service.origin}/operator/plans/studio`, {
      method: "PUT",
      headers: {
        authorization: `Bearer ${service.operator.token}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(GOLD_PLAN_LIMITS),
    })
    expect(made.status).toBe(201)
    expect(await keys(["create", "--account", "miner", "--plan", "studio"])).toContain(
      "miner (studio)",
    )
    await service.makeKey("digger", "trial")
    expect(await keys(["plan", "digger", "studio"])).toBe("Account digger has the plan studio.\n")
    await expect(keys(["plan", "digger", "silver"])).rejects.toMatchObject({
      stderr: expect.stringContaining("unknown plan silver"),
    })
  })

  it("fails with a sentence for an unknown account", async () => {
    await expect(keys(["plan", "nobody", "paid"])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("No such account exists."),
    })
  })
})

describe("PUT /operator/plans", () => {
  it("returns the same if it is repeated", async () => {
    await service.makeKey("twice", "trial")
    for (let times = 0; times < 2; times += 1) {
      const answer = await setPlan({ account: "twice", plan: "paid" })
      expect(answer.status).toBe(200)
      expect(await answer.json()).toEqual({ account: "twice", plan: "paid" })
    }
  })

  it.each([
    ["an unknown account", { account: "nobody", plan: "paid" }, 404, []],
    ["an unknown plan", { account: "twice", plan: "gold" }, 422, ["plan"]],
    ["nothing", {}, 422, ["account", "plan"]],
    ["more than it knows", { account: "twice", plan: "paid", since: 1 }, 422, ["since"]],
  ])("refuses %s", async (_, body, status, fields) => {
    const answer = await setPlan(body)
    const { details } = z
      .looseObject({ details: z.array(z.looseObject({ field: z.string() })).default([]) })
      .parse(await answer.json())
    expect([answer.status, details.map(({ field }) => field)]).toEqual([status, fields])
  })

  it("refuses callers who are not the operator", async () => {
    const answer = await setPlan({ account: "twice", plan: "trial" }, "a-token-of-nobody")
    expect(answer.status).toBe(401)
    expect(await planShown("twice")).toBe("paid")
  })
})

it("limits a run by the plan at its start, also for a waiting or retried job", async () => {
  const key = await service.makeKey("upgraded", "trial")
  const first = await encode(key, LIMIT_SECONDS + 3)
  const second = await encode(key, LIMIT_SECONDS + 2)
  await expect
    .poll(async () => await ask(key, "GET", `/jobs/${first}`))
    .toMatchObject({ status: "processing" })
  // The second job starts when the first one ends, after the limit of the trial plan.
  expect((await setPlan({ account: "upgraded", plan: "paid" })).status).toBe(200)
  const wait = { headers: { prefer: "wait=30" } }
  expect(await ask(key, "GET", `/jobs/${first}`, wait)).toMatchObject({
    status: "failed",
    error: {
      code: "time_limit",
      message: expect.stringContaining(`may run for ${LIMIT_SECONDS} seconds on the trial plan`),
    },
  })
  expect(await ask(key, "GET", `/jobs/${second}`, wait)).toMatchObject({
    status: "completed",
  })
  const retried = await ask(key, "POST", `/jobs/${first}/retry`, wait)
  expect(retried).toMatchObject({ status: "completed" })
})
