import { Hono } from "hono"
import { z } from "zod"
import { notFound, Problem } from "../../http/problem.ts"
import { parseBody, readJson } from "../../http/request.ts"
import type { App, AppContext } from "../../http/request.ts"
import { toDateTime } from "../../kinds/record-fields.ts"
import { ownLimits, ownPlanName } from "../../pipeline/accounts/own-limits.ts"
import { changePlan } from "../../pipeline/accounts/plan.ts"
import { changeLimits, createPlan, listPlans, removePlan } from "../../pipeline/accounts/plans.ts"
import type { ListedPlan } from "../../pipeline/accounts/plans.ts"
import { viewLimits } from "../../plan-fields.ts"
import { accountName, planNameOf } from "./fields.ts"

/** The operator's routes to plans. */
export const plans = new Hono<App>()

plans.get("/", async (c) => c.json((await listPlans(c.env)).map(viewPlan)))

/** The account stands in the body, since not every name can stand in a path. */
plans.put("/", async (c) => {
  const plan = await planNameOf(c.env)
  const wanted = await readJson(c, z.strictObject({ account: accountName, plan }))
  const account = await changePlan(c.env, wanted.account, wanted.plan)
  if (!account) throw notFound("account")
  return c.json({ account: account.name, plan: account.plan })
})

plans.put("/:name", async (c) => {
  const { name } = parseBody(z.object({ name: ownPlanName }), { name: c.req.param("name") })
  const limits = await readJson(c, ownLimits)
  const isNew =
    !(await changeLimits(c.env, name, limits)) && (await createPlan(c.env, name, limits))
  return c.json(await find(c, name), isNew ? 201 : 200)
})

plans.delete("/:name", async (c) => {
  const outcome = await removePlan(c.env, c.req.param("name"))
  if (outcome === "absent") throw notFound("plan of your own")
  if (outcome === "used") {
    const message = "Accounts have the plan, or invitations name it; give them another one first."
    throw new Problem("plan_in_use", message)
  }
  return c.json({})
})

async function find(c: AppContext, name: string) {
  const plan = (await listPlans(c.env)).find((each) => each.name === name)
  if (!plan) throw notFound("plan")
  return viewPlan(plan)
}

function viewPlan({ name, limits, isBuiltIn, accountCount, updatedAt }: ListedPlan) {
  return {
    name,
    built_in: isBuiltIn,
    limits: {
      ...viewLimits(limits),
      slots_share: limits.slotsShareMax,
    },
    accounts: accountCount,
    updated_at: toDateTime(updatedAt),
  }
}
