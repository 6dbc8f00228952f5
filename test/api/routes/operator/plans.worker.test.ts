import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { beginAccountDeletion } from "../../../../src/accounts/deletion.ts"
import { fetchWorker, fetchOperatorRoute, makeCaller } from "../../../support/caller.ts"
import { GOLD_PLAN_LIMITS } from "../../../support/accounts/own-plan.ts"
import { readFaultDetails, putPlan } from "../../../support/accounts/operator-calls.ts"

type PlanRecord = { name: string; built_in: boolean; accounts: number; limits: object }

async function listed(): Promise<Record<string, PlanRecord>> {
  const plans = await (await fetchOperatorRoute("/plans")).json<PlanRecord[]>()
  return Object.fromEntries(plans.map((plan) => [plan.name, plan]))
}

async function give(account: string, plan: string): Promise<Response> {
  return await fetchOperatorRoute("/plans", {
    method: "PUT",
    body: JSON.stringify({ account, plan }),
  })
}

describe("GET /operator/plans", () => {
  it("lists the built-in plans with the limits of the settings", async () => {
    expect(await listed()).toMatchObject({
      trial: { built_in: true, limits: { file_bytes: 30 * 1024 * 1024, slots_share: 0.5 } },
      paid: { built_in: true, limits: { requests_per_minute: 5, run_seconds: 1800 } },
    })
  })

  it("shows how many accounts have each plan, without deleted accounts", async () => {
    await putPlan("counted", GOLD_PLAN_LIMITS)
    for (const name of ["counted one", "counted two", "counted three"]) {
      await makeCaller(name)
      await give(name, "counted")
    }
    const id = await env.DB.prepare("select id from accounts where name = 'counted three'").first(
      "id",
    )
    await beginAccountDeletion(env, String(id))
    expect(await listed()).toMatchObject({ counted: { accounts: 2 } })
  })
})

describe("PUT /operator/plans/{name}", () => {
  it("creates a plan and then changes it", async () => {
    const made = await putPlan("made-1", { ...GOLD_PLAN_LIMITS, slots_share: 0.25 })
    expect([made.status, await made.json()]).toEqual([
      201,
      expect.objectContaining({
        name: "made-1",
        built_in: false,
        accounts: 0,
        limits: { ...GOLD_PLAN_LIMITS, slots_share: 0.25 },
      }),
    ])
    const changed = await putPlan("made-1", { ...GOLD_PLAN_LIMITS, running_jobs: 3 })
    expect([changed.status, await changed.json()]).toEqual([
      200,
      expect.objectContaining({ limits: { ...GOLD_PLAN_LIMITS, running_jobs: 3, slots_share: 1 } }),
    ])
  })

  it.each([
    ["trial", "are built-in plans; choose another name"],
    ["Gold", "a-z, 0-9 and -"],
    ["x".repeat(41), "1 to 40 characters"],
    ["a_b", "a-z, 0-9 and -"],
  ])("refuses the name %s", async (name, why) => {
    const answer = await putPlan(name, GOLD_PLAN_LIMITS)
    expect([answer.status, await readFaultDetails(answer)]).toEqual([
      422,
      [{ field: "name", message: expect.stringContaining(why) }],
    ])
  })

  it.each([
    ["requests_per_minute", 0, "from 1 to 10000000"],
    ["running_jobs", 1.5, "expected a whole number"],
    ["waiting_jobs", "10", "expected a whole number"],
    ["file_bytes", 2 ** 60, "to 5497558138880"],
    ["run_seconds", -1, "from 1 to 86400"],
    ["fetches_per_day", null, "from 0 to"],
    ["storage_bytes", undefined, "expected a whole number"],
    ["slots_share", 1.1, "from 0 to 1"],
    ["price", 9, "unknown field"],
  ])("refuses %s: %s", async (field, value, why) => {
    const answer = await putPlan("refused", { ...GOLD_PLAN_LIMITS, [field]: value })
    expect([answer.status, await readFaultDetails(answer)]).toEqual([
      422,
      [{ field, message: expect.stringContaining(why) }],
    ])
  })

  it("changes the rate limit of the plan's keys within a second", async () => {
    const { call } = await makeCaller("changes at once")
    await putPlan("changing", { ...GOLD_PLAN_LIMITS, requests_per_minute: 70 })
    expect((await give("changes at once", "changing")).status).toBe(200)
    expect((await call("/files")).headers.get("ratelimit-policy")).toContain("q=70;")
    await putPlan("changing", { ...GOLD_PLAN_LIMITS, requests_per_minute: 80 })
    await expect
      .poll(async () => (await call("/files")).headers.get("ratelimit-policy"))
      .toContain("q=80;")
  })
})

describe("DELETE /operator/plans/{name}", () => {
  beforeEach(async () => void (await putPlan("short-lived", GOLD_PLAN_LIMITS)))

  async function remove(name: string): Promise<Response> {
    return await fetchOperatorRoute(`/plans/${name}`, { method: "DELETE" })
  }

  it("deletes an unused plan", async () => {
    expect((await remove("short-lived")).status).toBe(200)
    expect(Object.keys(await listed())).not.toContain("short-lived")
    expect((await remove("short-lived")).status).toBe(404)
    expect((await remove("trial")).status).toBe(404)
  })

  it("refuses a plan that accounts have", async () => {
    await makeCaller("holder of it")
    await give("holder of it", "short-lived")
    const answer = await remove("short-lived")
    expect(answer.status).toBe(409)
    expect(await answer.json()).toMatchObject({ code_name: "plan_in_use" })
    await give("holder of it", "trial")
    expect((await remove("short-lived")).status).toBe(200)
  })

  it("refuses a plan that an invitation names", async () => {
    await env.DB.prepare(
      "insert into invitations (id, email, plan, token_hash, expires_at, created_at) values ('i', 'a@b.test', 'short-lived', 'h', 9e15, 0)",
    ).run()
    expect((await remove("short-lived")).status).toBe(409)
  })
})

describe("an unknown plan", () => {
  it("cannot be assigned to an account, new or existing", async () => {
    await makeCaller("keeps its plan")
    const body = JSON.stringify({ account: "keeps its plan", plan: "platinum" })
    for (const answer of [
      await fetchOperatorRoute("/keys", { method: "POST", body }),
      await give("keeps its plan", "platinum"),
    ]) {
      const message = expect.stringContaining("unknown plan platinum")
      expect([answer.status, await readFaultDetails(answer)]).toEqual([
        422,
        [{ field: "plan", message }],
      ])
    }
    const plan = env.DB.prepare("select plan from accounts where name = 'keeps its plan'")
    expect(await plan.first("plan")).toBe("trial")
  })
})

it("refuses requests without the operator's token", async () => {
  for (const [method, path] of [
    ["GET", "/plans"],
    ["PUT", "/plans/x"],
    ["DELETE", "/plans/x"],
    ["GET", "/accounts"],
    ["POST", "/accounts/x/suspend"],
    ["POST", "/accounts/x/resume"],
    ["DELETE", "/accounts/x"],
  ] as const) {
    expect([method, path, (await fetchWorker(`/operator${path}`, { method })).status]).toEqual([
      method,
      path,
      401,
    ])
  }
})
