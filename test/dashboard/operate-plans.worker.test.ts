import { beforeAll, describe, expect, it } from "vitest"
import {
  toPlanFormValues,
  parsePlanNumbers,
} from "../../src/dashboard/pages/operate-plans/plan-form.tsx"
import { operatorPlanLimitsSchema } from "../../src/accounts/operator-plan-limits.ts"
import { fetchOperatorRoute, makeCaller } from "../support/caller.ts"
import { GOLD_PLAN_LIMITS } from "../support/accounts/own-plan.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"
import type { SignedInCaller } from "../support/accounts/signed-in.ts"

let operator: SignedInCaller

beforeAll(async () => {
  operator = await makeSignedInUser({ isOperator: true })
})

/** Fields of the form of a plan. */
const FORM = {
  requests_per_minute: "100",
  running_jobs: "2",
  waiting_jobs: "10",
  file_bytes: "0.5",
  input_bytes: "1",
  run_seconds: "60",
  storage_bytes: "10",
  fetches_per_day: "0",
  link_seconds: "600",
  slots_share: "25",
}

async function limitsOf(name: string): Promise<unknown> {
  const plans = await (
    await fetchOperatorRoute("/plans")
  ).json<{ name: string; limits: unknown }[]>()
  return plans.find((plan) => plan.name === name)?.limits
}

async function follow(answer: Response): Promise<string> {
  expect(answer.status).toBe(303)
  return await (await operator.visit(answer.headers.get("location") ?? "")).text()
}

describe("/operate/plans", () => {
  it("shows the built-in plans side by side", async () => {
    const page = await (await operator.visit("/operate/plans")).text()
    expect(page).toMatch(/<th[^>]*>trial<\/th><th[^>]*>paid<\/th>/)
    expect(page).toMatch(/Size of a file<\/td><td[^>]*>30 MB<\/td><td[^>]*>50 GB/)
    expect(page).toContain("No custom plans yet")
  })

  it("has a pattern for the name that browsers support, and units for numbers", async () => {
    const form = await (await operator.visit("/operate/plans/new")).text()
    const [, pattern = ""] = / pattern="([^"]*)"/.exec(form) ?? []
    // With the flag that browsers set.
    const names = new RegExp(`^(?:${pattern})$`, "v")
    expect(["studio-2", "Studio", "a b"].map((name) => names.test(name))).toEqual([
      true,
      false,
      false,
    ])
    expect(form).toContain("Run time of a job, in seconds")
    expect(form).toContain("Size of a file, in GB")
  })

  it("creates, changes and deletes a plan", async () => {
    const made = await operator.submit("/operate/plans", { ...FORM, name: "studio" })
    expect(await follow(made)).toContain("The plan studio is created.")
    expect(await limitsOf("studio")).toEqual({
      ...GOLD_PLAN_LIMITS,
      file_bytes: 2 ** 29,
      input_bytes: 2 ** 30,
      storage_bytes: 10 * 2 ** 30,
      fetches_per_day: 0,
      slots_share: 0.25,
    })
    const form = await (await operator.visit("/operate/plans/studio/change")).text()
    expect(form).toMatch(
      /<input[^>]*value="0.5"[^>]*name="file_bytes"|name="file_bytes"[^>]*value="0.5"/,
    )
    const changed = await operator.submit("/operate/plans/studio/change", {
      ...FORM,
      running_jobs: "7",
    })
    expect(await follow(changed)).toContain("The plan studio is changed")
    expect(await limitsOf("studio")).toMatchObject({ running_jobs: 7 })
    const removed = await operator.submit("/operate/plans/studio/delete")
    expect(await follow(removed)).toContain("The plan studio is deleted.")
    expect(await limitsOf("studio")).toBeUndefined()
  })

  it("shows an invalid form again with its faults and values", async () => {
    const answer = await operator.submit("/operate/plans", {
      ...FORM,
      name: "trial",
      file_bytes: "1e9",
      run_seconds: "soon",
      slots_share: "",
    })
    expect(answer.status).toBe(422)
    const page = await answer.text()
    expect(page).toContain("trial and paid are built-in plans; choose another name")
    expect(page).toContain("expected a number of GB above 0, up to 5 TB")
    expect(page).toContain("expected a whole number from 1 to 86400")
    expect(page).toContain("expected a number from 0 to 100")
    expect(page).toContain('value="1e9"')
  })

  it("creates no plan with an existing name or the name of a built-in plan", async () => {
    await operator.submit("/operate/plans", { ...FORM, name: "there" })
    const again = await operator.submit("/operate/plans", { ...FORM, name: "there" })
    expect([again.status, await again.text()]).toEqual([
      422,
      expect.stringContaining("a plan has this name; choose another"),
    ])
    for (const action of ["change", "delete"]) {
      expect((await operator.submit(`/operate/plans/trial/${action}`, FORM)).status).toBe(404)
    }
  })

  it("refuses to delete a plan that accounts have", async () => {
    await operator.submit("/operate/plans", { ...FORM, name: "held" })
    await makeCaller("holds it")
    const body = JSON.stringify({ account: "holds it", plan: "held" })
    await fetchOperatorRoute("/plans", { method: "PUT", body })
    const answer = await operator.submit("/operate/plans/held/delete")
    expect(await follow(answer)).toContain("Accounts or invitations use the plan held")
    expect(await limitsOf("held")).toBeDefined()
  })
})

describe("the form of a plan", () => {
  it("sends exactly the numbers that it shows, also of bytes", () => {
    for (const bytes of [1, 30 * 2 ** 20, 1_000_000, 5 * 2 ** 40]) {
      const limits = operatorPlanLimitsSchema.parse({
        ...GOLD_PLAN_LIMITS,
        file_bytes: bytes,
        slots_share: 0.3,
      })
      expect(operatorPlanLimitsSchema.parse(parsePlanNumbers(toPlanFormValues(limits)))).toEqual(
        limits,
      )
    }
  })
})
