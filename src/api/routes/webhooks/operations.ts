import { z } from "zod"
import { readJsonBody, getBaseUrl } from "../../input/request.ts"
import type { AppContext } from "../../context.ts"
import { emptyQuerySchema, defineOperation } from "../../output/operation.ts"
import type { Operation } from "../../output/operation.ts"
import { makeNextPageLinkHeader, toPageRequest, pageQuerySchema } from "../../output/paging.ts"
import { notFoundProblem } from "../../output/problem.ts"
import { chooseDatabasesForLists } from "../../middleware/replica.ts"
import { webhookUrlSchema } from "../../../kinds/create-fields.ts"
import {
  readWebhookSecretOfAccount,
  replayDelivery,
  rotateWebhookSecretOfAccount,
  sendTestEvent,
} from "../../../webhooks/account-webhooks.ts"
import { findDelivery, listDeliveries } from "../../../db/deliveries.ts"
import { DELIVERY_STATES } from "../../../domain/states.ts"
import { readPathResourceId } from "../../output/collection.ts"
import { EXAMPLE_ID } from "../../../platform/ids.ts"
import { readWebhookUrl } from "../../input/accept.ts"
import { deliveryRecordSchema, toDeliveryRecord } from "./record.ts"
import { signingSecretRecordSchema, toSigningSecretRecord } from "./secret.ts"

const PATH = "/webhooks/deliveries"
const TAG = "webhooks"
const TITLE = "delivery"

const testRequest = z.strictObject({ url: webhookUrlSchema }).meta({ id: "WebhookTest" })
const location = { Location: "URL of the delivery." }

/** Operations of webhooks: deliveries, the signing secret, and test events. */
export const webhookOperations: Operation[] = [
  defineOperation({
    method: "get",
    path: PATH,
    operationId: "listDeliveries",
    summary: "List deliveries with their tries, newest first",
    tag: TAG,
    query: pageQuerySchema.extend({
      job_id: z.uuid("expected the id of a job").toLowerCase().optional(),
      status: z.enum(DELIVERY_STATES, `expected one of ${DELIVERY_STATES.join(", ")}`).optional(),
    }),
    answer: {
      status: 200,
      description: "A page of deliveries.",
      schema: z.array(deliveryRecordSchema),
      headers: { Link: "URL of the next page, if there may be one." },
    },
    example: { limit: "5" },
    async handle(c, query) {
      const page = toPageRequest(query)
      const only = { jobId: query.job_id, state: query.status }
      const deliveries = await listDeliveries(chooseDatabasesForLists(c), page, only)
      const rows = deliveries.map(({ delivery }) => delivery)
      return {
        body: deliveries.map(toDeliveryRecord),
        headers: makeNextPageLinkHeader(c, PATH, page, rows),
      }
    },
  }),
  defineOperation({
    method: "get",
    path: `${PATH}/{id}`,
    operationId: "getDelivery",
    summary: "Get a delivery with its tries",
    tag: TAG,
    query: emptyQuerySchema,
    answer: { status: 200, description: "The delivery.", schema: deliveryRecordSchema },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const delivery = await findDelivery(c.get("database"), readPathResourceId(c, TITLE))
      if (!delivery) throw notFoundProblem(TITLE)
      return { body: toDeliveryRecord(delivery) }
    },
  }),
  defineOperation({
    method: "post",
    path: `${PATH}/{id}/replay`,
    operationId: "replayDelivery",
    summary: "Replay a delivery with a new series of tries",
    tag: TAG,
    query: emptyQuerySchema,
    answer: {
      status: 202,
      description: "The delivery.",
      schema: deliveryRecordSchema,
      headers: location,
    },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const logged = await replayDelivery(c.env, c.get("account").id, readPathResourceId(c, TITLE))
      if (!logged) throw notFoundProblem(TITLE)
      return {
        body: toDeliveryRecord(logged),
        headers: makeDeliveryLocationHeader(c, logged.delivery.id),
      }
    },
  }),
  defineOperation({
    method: "post",
    path: "/webhooks/test",
    operationId: "testWebhook",
    summary: "Send a signed test event to a URL",
    tag: TAG,
    query: emptyQuerySchema,
    bodies: {
      "application/json": { schema: testRequest, example: { url: "https://example.com/hooks" } },
    },
    answer: {
      status: 202,
      description: "The delivery of the test event.",
      schema: deliveryRecordSchema,
      headers: location,
    },
    errors: ["payload_too_large", "request_timeout", "unsupported_media_type"],
    async handle(c) {
      const { url } = await readJsonBody(c, testRequest)
      const checked = readWebhookUrl(c, "url", url)
      const logged = await sendTestEvent(c.env, c.get("account").id, { url: checked })
      return {
        body: toDeliveryRecord(logged),
        headers: makeDeliveryLocationHeader(c, logged.delivery.id),
      }
    },
  }),
  defineOperation({
    method: "get",
    path: "/webhooks/secret",
    scope: "admin",
    operationId: "getWebhookSecret",
    summary: "Get the secret that signs webhooks of requests; each endpoint has its own",
    tag: TAG,
    query: emptyQuerySchema,
    answer: {
      status: 200,
      description: "The secret, and the time until which the previous secret also signs.",
      schema: signingSecretRecordSchema,
    },
    async handle(c) {
      return {
        body: toSigningSecretRecord(await readWebhookSecretOfAccount(c.env, c.get("account").id)),
      }
    },
  }),
  defineOperation({
    method: "post",
    path: "/webhooks/secret/rotate",
    scope: "admin",
    operationId: "rotateWebhookSecret",
    summary: "Rotate the secret; the old secret also signs for a day",
    tag: TAG,
    query: emptyQuerySchema,
    answer: {
      status: 200,
      description: "The new secret.",
      schema: signingSecretRecordSchema,
    },
    async handle(c) {
      return {
        body: toSigningSecretRecord(await rotateWebhookSecretOfAccount(c.env, c.get("account").id)),
      }
    },
  }),
]

export function makeDeliveryLocationHeader(c: AppContext, id: string) {
  return { location: `${getBaseUrl(c)}${PATH}/${id}` }
}
