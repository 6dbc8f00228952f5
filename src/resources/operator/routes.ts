import { Hono } from "hono"
import { z } from "zod"
import { authenticateAnnouncement, authenticateOperator } from "../../http/auth.ts"
import { readJson } from "../../http/request.ts"
import type { App } from "../../http/request.ts"
import { guardMethods } from "../../http/methods.ts"
import { announceRunner } from "../../pipeline/upkeep/containers.ts"
import { accounts } from "./accounts.ts"
import { health } from "./health.ts"
import { keys } from "./keys.ts"
import { operators } from "./operators.ts"
import { plans } from "./plans.ts"
import { receiveWebhookCheck, webhookChecks } from "./webhook-checks.ts"

/**
 * What only the operator may ask: accounts, health, keys, plans and operators. Two routes are for others:
 * a plain runner announces its start, and the service delivers the webhook of a check.
 */
export const operator = new Hono<App>()

operator.post("/runner-up", authenticateAnnouncement, async (c) => {
  const { boot } = await readJson(c, z.object({ boot: z.string() }))
  await announceRunner(c.env, boot)
  return c.json({})
})

operator.post("/webhook-checks/:token", receiveWebhookCheck)

operator.use("*", authenticateOperator)
operator.route("/accounts", accounts)
operator.route("/health", health)
operator.route("/keys", keys)
operator.route("/operators", operators)
operator.route("/plans", plans)
operator.route("/webhook-checks", webhookChecks)

guardMethods(operator)
