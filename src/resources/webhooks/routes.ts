import { Hono } from "hono"
import { makeWebhookSecret, SECRET_OVERLAP_MS } from "../../contract/webhook-secret.ts"
import { parseBody, readJson } from "../../http/body.ts"
import { baseUrl } from "../../http/context.ts"
import type { App, AppContext } from "../../http/context.ts"
import { readWebhookUrl } from "../../http/create-fields.ts"
import { linkNext, readPage } from "../../http/paging.ts"
import { notFound } from "../../http/problem.ts"
import { toDateTime } from "../../http/status.ts"
import { isId } from "../../ids.ts"
import { nudgeDelivery } from "../../pipeline/settle.ts"
import { openDatabase } from "../../storage/database.ts"
import {
  findDelivery,
  insertDelivery,
  listDeliveries,
  replayDelivery,
} from "../../storage/deliveries.ts"
import type { LoggedDelivery } from "../../storage/deliveries.ts"
import { readWebhookSecret, rotateWebhookSecret } from "../../storage/keys.ts"
import { deliveryFilters, testRequest } from "./schema.ts"
import { deliveryOfTest } from "./tasks.ts"
import { viewDelivery } from "./view.ts"

export const webhooks = new Hono<App>()

webhooks.get("/deliveries", async (c) => {
  const page = readPage(c)
  const filters = parseBody(deliveryFilters, c.req.query())
  const { job_id: jobId, status: state } = filters
  const accountId = c.get("account").id
  const found = await listDeliveries(openDatabase(c.env.DB), accountId, page, { jobId, state })
  const rows = found.map(({ delivery }) => delivery)
  linkNext(c, "/webhooks/deliveries", { ...page, filters }, rows)
  return c.json(found.map(viewDelivery))
})

webhooks.get("/deliveries/:id", async (c) => c.json(viewDelivery(await find(c))))

webhooks.post("/deliveries/:id/replay", async (c) => {
  const { delivery } = await find(c)
  const now = Date.now()
  await replayDelivery(openDatabase(c.env.DB), delivery.accountId, delivery.id, now)
  return await accept(c, await find(c))
})

webhooks.post("/test", async (c) => {
  const { url } = await readJson(c, testRequest)
  const delivery = deliveryOfTest({
    accountId: c.get("account").id,
    url: readWebhookUrl(c, "url", url),
    now: Date.now(),
  })
  await insertDelivery(openDatabase(c.env.DB), delivery)
  return await accept(c, { delivery, tries: [] })
})

webhooks.get("/secret", async (c) =>
  c.json({ secret: await readWebhookSecret(openDatabase(c.env.DB), c.get("account").id) }),
)

webhooks.post("/secret/rotate", async (c) => {
  const secret = makeWebhookSecret()
  const now = Date.now()
  await rotateWebhookSecret(openDatabase(c.env.DB), c.get("account").id, secret, now)
  return c.json({ secret, previous_valid_until: toDateTime(now + SECRET_OVERLAP_MS) })
})

async function accept(c: AppContext, logged: LoggedDelivery): Promise<Response> {
  const { id } = logged.delivery
  await nudgeDelivery(c.env, id)
  return c.json(viewDelivery(logged), 202, { location: `${baseUrl(c)}/webhooks/deliveries/${id}` })
}

async function find(c: AppContext): Promise<LoggedDelivery> {
  const id = c.req.param("id") ?? ""
  const found = isId(id)
    ? await findDelivery(openDatabase(c.env.DB), c.get("account").id, id.toLowerCase())
    : null
  if (!found) throw notFound("delivery")
  return found
}
