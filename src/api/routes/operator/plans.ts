import { Hono } from "hono"
import { z } from "zod"
import { notFoundProblem, Problem } from "../../output/problem.ts"
import { parseBody, readJsonBody } from "../../input/request.ts"
import type { AppEnv, AppContext } from "../../context.ts"
import { toDateTime } from "../../../kinds/shared-record-fields.ts"
import {
  operatorPlanLimitsSchema,
  operatorPlanNameSchema,
} from "../../../accounts/operator-plan-limits.ts"
import { assignPlanByAccountName } from "../../../accounts/assign-plan.ts"
import {
  changePlanLimits,
  createPlan,
  listPlans,
  removePlan,
} from "../../../accounts/manage-plans.ts"
import type { ListedPlan } from "../../../accounts/manage-plans.ts"
import { toPublicLimits } from "../../../domain/plan-fields.ts"
import { accountNameSchema, makePlanNameSchema } from "./fields.ts"

/** Operator routes that list, change and remove plans, and assign a plan to an account. */
export const planRoutes = new Hono<AppEnv>()

planRoutes.get("/", async (c) => c.json((await listPlans(c.env)).map(viewPlan)))

/**
 * Assigns a plan to an account. The body has the account's name, because not every name fits in a
 * path.
 */
planRoutes.put("/", async (c) => {
  const plan = await makePlanNameSchema(c.env)
  const request = await readJsonBody(c, z.strictObject({ account: accountNameSchema, plan }))
  const account = await assignPlanByAccountName(c.env, request.account, request.plan)
  if (!account) throw notFoundProblem("account")
  return c.json({ account: account.name, plan: account.plan })
})

planRoutes.put("/:name", async (c) => {
  const { name } = parseBody(z.object({ name: operatorPlanNameSchema }), {
    name: c.req.param("name"),
  })
  const limits = await readJsonBody(c, operatorPlanLimitsSchema)
  const isNew =
    !(await changePlanLimits(c.env, name, limits)) && (await createPlan(c.env, name, limits))
  return c.json(await find(c, name), isNew ? 201 : 200)
})

planRoutes.delete("/:name", async (c) => {
  const outcome = await removePlan(c.env, c.req.param("name"))
  if (outcome === "absent") throw notFoundProblem("custom plan")
  if (outcome === "used") {
    const message = "Accounts or invitations use the plan; give them another plan first."
    throw new Problem("plan_in_use", message)
  }
  return c.json({})
})

async function find(c: AppContext, name: string) {
  const plan = (await listPlans(c.env)).find((each) => each.name === name)
  if (!plan) throw notFoundProblem("plan")
  return viewPlan(plan)
}

function viewPlan({ name, limits, isBuiltIn, accountCount, updatedAt }: ListedPlan) {
  return {
    name,
    built_in: isBuiltIn,
    limits: {
      ...toPublicLimits(limits),
      slots_share: limits.slotsShareMax,
    },
    accounts: accountCount,
    updated_at: toDateTime(updatedAt),
  }
}
