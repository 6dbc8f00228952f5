import { Hono } from "hono"
import { z } from "zod"
import { appointOperator } from "../../auth/operators.ts"
import { publicOrigin, readJson } from "../../http/request.ts"
import type { App } from "../../http/request.ts"

/** The operator's route to users who are operators. */
export const operators = new Hono<App>()

const operatorRequest = z.strictObject({ email: z.email("expected an email address") })

operators.post("/", async (c) => {
  const { email } = await readJson(c, operatorRequest)
  const { user, link } = await appointOperator(c.env, publicOrigin(c), email)
  return c.json({ id: user.id, email: user.email, account_id: user.accountId, link }, 201)
})
