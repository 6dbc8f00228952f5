import { z } from "zod"
import { readJson, baseUrl } from "../../http/request.ts"
import type { AppContext } from "../../http/request.ts"
import { NO_QUERY, operation } from "../../http/operation.ts"
import type { Operation } from "../../http/operation.ts"
import { linkNext, pageOf, pageQuery } from "../../http/paging.ts"
import { notFound } from "../../http/problem.ts"
import { listDatabase } from "../../http/replica.ts"
import { webhookUrl } from "../../kinds/create-fields.ts"
import {
  readSecret,
  replayDelivery,
  rotateSecret,
  sendTestEvent,
} from "../../pipeline/webhooks/account-webhooks.ts"
import { findDelivery, listDeliveries } from "../../storage/deliveries.ts"
import { DELIVERY_STATES } from "../../storage/schema/states.ts"
import { readId } from "../../http/collection.ts"
import { EXAMPLE_ID } from "../../ids.ts"
import { readWebhookUrl } from "../../http/creates.ts"
import { deliveryRecord, viewDelivery } from "./record.ts"
import { secretRecord, viewSecret } from "./secret.ts"

const PATH = "/webhooks/deliveries"
const TAG = "webhooks"
const TITLE = "delivery"

const testRequest = z.strictObject({ url: webhookUrl }).meta({ id: "WebhookTest" })
const location = { Location: "The address of the delivery." }

/** The operations of webhooks: deliveries, the secret that signs them, and a test. */
export const webhookOperations: Operation[] = [
  operation({
    method: "get",
    path: PATH,
    operationId: "listDeliveries",
    summary: "List deliveries, newest first, each with its tries",
    tag: TAG,
    query: pageQuery.extend({
      job_id: z.uuid("expected the id of a job").toLowerCase().optional(),
      status: z.enum(DELIVERY_STATES, `expected one of ${DELIVERY_STATES.join(", ")}`).optional(),
    }),
    answer: {
      status: 200,
      description: "A page of deliveries.",
      schema: z.array(deliveryRecord),
      headers: { Link: "The address of the next page, where there may be one." },
    },
    example: { limit: "5" },
    async handle(c, query) {
      const page = pageOf(query)
      const only = { jobId: query.job_id, state: query.status }
      const found = await listDeliveries(listDatabase(c), page, only)
      const rows = found.map(({ delivery }) => delivery)
      return { body: found.map(viewDelivery), headers: linkNext(c, PATH, page, rows) }
    },
  }),
  operation({
    method: "get",
    path: `${PATH}/{id}`,
    operationId: "getDelivery",
    summary: "Get a delivery with its tries",
    tag: TAG,
    query: NO_QUERY,
    answer: { status: 200, description: "The delivery.", schema: deliveryRecord },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const found = await findDelivery(c.get("database"), readId(c, TITLE))
      if (!found) throw notFound(TITLE)
      return { body: viewDelivery(found) }
    },
  }),
  operation({
    method: "post",
    path: `${PATH}/{id}/replay`,
    operationId: "replayDelivery",
    summary: "Deliver once more, with all tries before it",
    tag: TAG,
    query: NO_QUERY,
    answer: {
      status: 202,
      description: "The delivery.",
      schema: deliveryRecord,
      headers: location,
    },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const logged = await replayDelivery(c.env, c.get("account").id, readId(c, TITLE))
      if (!logged) throw notFound(TITLE)
      return { body: viewDelivery(logged), headers: locationOf(c, logged.delivery.id) }
    },
  }),
  operation({
    method: "post",
    path: "/webhooks/test",
    operationId: "testWebhook",
    summary: "Send a signed test event to a URL",
    tag: TAG,
    query: NO_QUERY,
    bodies: {
      "application/json": { schema: testRequest, example: { url: "https://example.com/hooks" } },
    },
    answer: {
      status: 202,
      description: "Its delivery.",
      schema: deliveryRecord,
      headers: location,
    },
    errors: ["payload_too_large", "request_timeout", "unsupported_media_type"],
    async handle(c) {
      const { url } = await readJson(c, testRequest)
      const checked = readWebhookUrl(c, "url", url)
      const logged = await sendTestEvent(c.env, c.get("account").id, checked)
      return { body: viewDelivery(logged), headers: locationOf(c, logged.delivery.id) }
    },
  }),
  operation({
    method: "get",
    path: "/webhooks/secret",
    scope: "admin",
    operationId: "getWebhookSecret",
    summary: "Get the secret that signs the account's webhooks",
    tag: TAG,
    query: NO_QUERY,
    answer: {
      status: 200,
      description: "The secret, and until when the one before it signs, too.",
      schema: secretRecord,
    },
    async handle(c) {
      return { body: viewSecret(await readSecret(c.env, c.get("account").id)) }
    },
  }),
  operation({
    method: "post",
    path: "/webhooks/secret/rotate",
    scope: "admin",
    operationId: "rotateWebhookSecret",
    summary: "Make a new secret; the one before signs beside it for a day",
    tag: TAG,
    query: NO_QUERY,
    answer: {
      status: 200,
      description: "The new secret.",
      schema: secretRecord,
    },
    async handle(c) {
      return { body: viewSecret(await rotateSecret(c.env, c.get("account").id)) }
    },
  }),
]

function locationOf(c: AppContext, id: string) {
  return { location: `${baseUrl(c)}${PATH}/${id}` }
}
