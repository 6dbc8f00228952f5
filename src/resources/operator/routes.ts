import { Hono } from "hono"
import { z } from "zod"
import { authenticateAnnouncement, authenticateOperator } from "../../http/auth.ts"
import { readJson } from "../../http/request.ts"
import type { App } from "../../http/request.ts"
import { guardMethods } from "../../http/methods.ts"
import { announceRunner } from "../../pipeline/dispatch/runner-started.ts"
import { accounts } from "./accounts.ts"
import { keys } from "./keys.ts"
import { operators } from "./operators.ts"
import { plans } from "./plans.ts"

/** What only the operator may ask: accounts, keys, plans and operators; and what only a plain runner says, that it started. */
export const operator = new Hono<App>()

operator.post("/runner-up", authenticateAnnouncement, async (c) => {
  const { boot } = await readJson(c, z.object({ boot: z.string() }))
  await announceRunner(c.env, boot)
  return c.json({})
})

operator.use("*", authenticateOperator)
operator.route("/accounts", accounts)
operator.route("/keys", keys)
operator.route("/operators", operators)
operator.route("/plans", plans)

guardMethods(operator)
