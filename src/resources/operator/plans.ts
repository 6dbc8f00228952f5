import { Hono } from "hono"
import { z } from "zod"
import { notFound } from "../../http/problem.ts"
import { readJson } from "../../http/request.ts"
import type { App } from "../../http/request.ts"
import { changePlan } from "../../pipeline/accounts/plan.ts"
import { accountName, planName } from "./fields.ts"

/** The operator's route to plans. */
export const plans = new Hono<App>()

/** The account stands in the body, since not every name can stand in a path. */
const planRequest = z.strictObject({ account: accountName, plan: planName })

plans.put("/", async (c) => {
  const wanted = await readJson(c, planRequest)
  const account = await changePlan(c.env, wanted.account, wanted.plan)
  if (!account) throw notFound("account")
  return c.json({ account: account.name, plan: account.plan })
})
