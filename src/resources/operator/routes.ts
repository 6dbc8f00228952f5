import { Hono } from "hono"
import { z } from "zod"
import { authenticateOperator } from "../../http/auth.ts"
import { readJson } from "../../http/request.ts"
import type { App } from "../../http/request.ts"
import { guardMethods } from "../../http/methods.ts"
import { announceRunner } from "../../pipeline/dispatch/runner-started.ts"
import { keys } from "./keys.ts"

/** What only the operator may ask: keys, and what a plain runner announces. */
export const operator = new Hono<App>()

operator.use("*", authenticateOperator)
operator.route("/keys", keys)

operator.post("/runner-up", async (c) => {
  const { boot } = await readJson(c, z.object({ boot: z.string() }))
  await announceRunner(c.env, boot)
  return c.json({})
})

guardMethods(operator)
