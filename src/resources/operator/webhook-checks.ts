import { Hono } from "hono"
import { settingsOf } from "../../env.ts"
import { Problem } from "../../http/problem.ts"
import { anyObject, publicOrigin, readJson } from "../../http/request.ts"
import type { App, AppContext } from "../../http/request.ts"
import { toDateTime } from "../../kinds/record-fields.ts"
import { makeWebhookCheck, readWebhookCheck } from "../../pipeline/webhooks/check-link.ts"

/** The operator's route that makes an address for one check of webhooks. */
export const webhookChecks = new Hono<App>()

webhookChecks.post("/", async (c) => {
  const made = await makeWebhookCheck(settingsOf(c.env).LATHE_SECRET, Date.now())
  const { token, answer, expiresAt } = made
  const url = `${publicOrigin(c)}/operator/webhook-checks/${token}`
  return c.json({ url, answer, expires_at: toDateTime(expiresAt) }, 201)
})

/**
 * Receives the webhook of a check, for whoever has its signed address. The answer is known to the
 * operator beforehand and stands in the record of the delivery, which so proves where it arrived.
 */
export async function receiveWebhookCheck(c: AppContext): Promise<Response> {
  const check = await readWebhookCheck(settingsOf(c.env).LATHE_SECRET, c.req.param("token") ?? "")
  if (!check) throw new Problem("invalid_signature", "This is no address of a check of webhooks.")
  if (Date.now() > check.expiresAt) {
    throw new Problem("link_expired", "The check of webhooks is over; begin another one.")
  }
  await readJson(c, anyObject)
  return c.json({ answer: check.answer })
}
