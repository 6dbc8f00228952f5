import { z } from "zod"
import {
  WEBHOOK_ENDPOINTS_MAX,
  findWebhookEndpoint,
  listWebhookEndpoints,
} from "../../../db/webhook-endpoints.ts"
import { EXAMPLE_ID } from "../../../platform/ids.ts"
import { sendTestEvent } from "../../../webhooks/account-webhooks.ts"
import {
  changeEndpoint,
  createEndpoint,
  readEndpointSecret,
  removeEndpoint,
  rotateSecretOfEndpoint,
} from "../../../webhooks/endpoints.ts"
import { EVENT_PATTERNS } from "../../../webhooks/event-types.ts"
import { webhookUrlSchema } from "../../../kinds/create-fields.ts"
import { readWebhookUrl } from "../../input/accept.ts"
import { getBaseUrl, readJsonBody } from "../../input/request.ts"
import { readPathResourceId } from "../../output/collection.ts"
import { emptyQuerySchema, defineOperation } from "../../output/operation.ts"
import type { Operation } from "../../output/operation.ts"
import { notFoundProblem, Problem } from "../../output/problem.ts"
import {
  endpointRecordSchema,
  createdEndpointRecordSchema,
  toEndpointRecord,
} from "./endpoint-record.ts"
import { deliveryRecordSchema, toDeliveryRecord } from "./record.ts"
import { makeDeliveryLocationHeader } from "./operations.ts"
import { signingSecretRecordSchema, toSigningSecretRecord } from "./secret.ts"

const PATH = "/webhooks/endpoints"
const TITLE = "endpoint"
const FACTS = { tag: "webhooks", query: emptyQuerySchema } as const
const MEMBER = { errors: ["not_found"], example: { id: EXAMPLE_ID } } as const
const BODY_ERRORS = ["payload_too_large", "request_timeout", "unsupported_media_type"] as const
const DESCRIPTION_MAX = 200

const EXPECTED_EVENT =
  "expected `*`, or a type of event such as `command.succeeded`, `command.*` or `*.failed`"
const EXPECTED_EVENTS = 'expected an array of types of events, such as `["command.*"]`'

const endpointFields = {
  url: webhookUrlSchema.meta({
    description: "HTTP or HTTPS URL that gets the events.",
    format: "uri",
  }),
  events: z
    .array(z.enum(EVENT_PATTERNS, EXPECTED_EVENT), EXPECTED_EVENTS)
    .min(1, EXPECTED_EVENTS)
    .max(EVENT_PATTERNS.length, `expected at most ${EVENT_PATTERNS.length} types`)
    .meta({
      description:
        "Types of the events that the endpoint gets; `*` stands for any kind of job, any state or both.",
    }),
  description: z
    .string("expected a string")
    .max(DESCRIPTION_MAX, `expected at most ${DESCRIPTION_MAX} characters`)
    .meta({ description: "A description of the caller's choice." }),
  enabled: z
    .boolean("expected true or false")
    .meta({ description: "Whether the endpoint gets events." }),
}

const newEndpoint = z
  .strictObject({
    url: endpointFields.url,
    events: endpointFields.events.default(["*"]),
    description: endpointFields.description.default(""),
    enabled: endpointFields.enabled.default(true),
  })
  .meta({ id: "NewWebhookEndpoint" })

const endpointChange = z
  .strictObject(endpointFields)
  .partial()
  .meta({ id: "WebhookEndpointChange" })

/** Operations of the webhook endpoints of an account. */
export const endpointOperations: Operation[] = [
  defineOperation({
    ...FACTS,
    method: "get",
    path: PATH,
    operationId: "listWebhookEndpoints",
    summary: "List all endpoints, newest first",
    answer: { status: 200, description: "The endpoints.", schema: z.array(endpointRecordSchema) },
    async handle(c) {
      return { body: (await listWebhookEndpoints(c.get("database"))).map(toEndpointRecord) }
    },
  }),
  defineOperation({
    ...FACTS,
    method: "post",
    path: PATH,
    operationId: "createWebhookEndpoint",
    summary: "Create an endpoint, which gets events of the account's jobs",
    description: `At the end of a job each endpoint that names the event gets one delivery, in addition to the webhook of the request. An account can have ${WEBHOOK_ENDPOINTS_MAX} endpoints.`,
    bodies: {
      "application/json": {
        schema: newEndpoint,
        example: { url: "https://example.com/events", events: ["command.*", "*.failed"] },
      },
    },
    answer: {
      status: 201,
      description: "The endpoint with its secret.",
      schema: createdEndpointRecordSchema,
      headers: { Location: "URL of the endpoint." },
    },
    errors: ["endpoint_limit_exceeded", ...BODY_ERRORS],
    async handle(c) {
      const fields = await readJsonBody(c, newEndpoint)
      const url = readWebhookUrl(c, "url", fields.url)
      const endpoint = await createEndpoint(c.get("database"), { ...fields, url })
      if (!endpoint) throw new Problem("endpoint_limit_exceeded", TOO_MANY)
      const { id, secret } = endpoint
      const headers = { location: `${getBaseUrl(c)}${PATH}/${id}` }
      return { body: { ...toEndpointRecord(endpoint), secret }, headers }
    },
  }),
  defineOperation({
    ...FACTS,
    ...MEMBER,
    method: "get",
    path: `${PATH}/{id}`,
    operationId: "getWebhookEndpoint",
    summary: "Get an endpoint",
    answer: { status: 200, description: "The endpoint.", schema: endpointRecordSchema },
    async handle(c) {
      const endpoint = await findWebhookEndpoint(c.get("database"), readPathResourceId(c, TITLE))
      if (!endpoint) throw notFoundProblem(TITLE)
      return { body: toEndpointRecord(endpoint) }
    },
  }),
  defineOperation({
    ...FACTS,
    ...MEMBER,
    method: "patch",
    path: `${PATH}/{id}`,
    operationId: "changeWebhookEndpoint",
    summary: "Change fields of an endpoint",
    description:
      "The change applies to jobs that end after it. Waiting webhooks of a disabled endpoint fail.",
    bodies: { "application/json": { schema: endpointChange, example: { enabled: false } } },
    answer: { status: 200, description: "The endpoint.", schema: endpointRecordSchema },
    errors: [...MEMBER.errors, ...BODY_ERRORS],
    async handle(c) {
      const id = readPathResourceId(c, TITLE)
      const { url, ...others } = await readJsonBody(c, endpointChange)
      const change = {
        ...others,
        ...(url !== undefined && { url: readWebhookUrl(c, "url", url) }),
      }
      const endpoint = await changeEndpoint(c.get("database"), id, change)
      if (!endpoint) throw notFoundProblem(TITLE)
      return { body: toEndpointRecord(endpoint) }
    },
  }),
  defineOperation({
    ...FACTS,
    ...MEMBER,
    method: "delete",
    path: `${PATH}/{id}`,
    operationId: "deleteWebhookEndpoint",
    summary: "Delete an endpoint; its waiting webhooks fail",
    answer: { status: 200, description: "The endpoint is deleted.", schema: z.object({}) },
    async handle(c) {
      if (!(await removeEndpoint(c.get("database"), readPathResourceId(c, TITLE)))) {
        throw notFoundProblem(TITLE)
      }
      return { body: {} }
    },
  }),
  defineOperation({
    ...FACTS,
    ...MEMBER,
    method: "post",
    path: `${PATH}/{id}/test`,
    operationId: "testWebhookEndpoint",
    summary: "Send a signed test event to an endpoint, enabled or not",
    answer: {
      status: 202,
      description: "The delivery of the test event.",
      schema: deliveryRecordSchema,
      headers: { Location: "URL of the delivery." },
    },
    async handle(c) {
      const endpoint = await findWebhookEndpoint(c.get("database"), readPathResourceId(c, TITLE))
      if (!endpoint) throw notFoundProblem(TITLE)
      const logged = await sendTestEvent(c.env, c.get("account").id, endpoint)
      return {
        body: toDeliveryRecord(logged),
        headers: makeDeliveryLocationHeader(c, logged.delivery.id),
      }
    },
  }),
  defineOperation({
    ...FACTS,
    ...MEMBER,
    method: "get",
    path: `${PATH}/{id}/secret`,
    scope: "admin",
    operationId: "getWebhookEndpointSecret",
    summary: "Get the secret that signs the events of an endpoint",
    answer: {
      status: 200,
      description: "The secret, and the time until which the previous secret also signs.",
      schema: signingSecretRecordSchema,
    },
    async handle(c) {
      const secret = await readEndpointSecret(c.get("database"), readPathResourceId(c, TITLE))
      if (!secret) throw notFoundProblem(TITLE)
      return { body: toSigningSecretRecord(secret) }
    },
  }),
  defineOperation({
    ...FACTS,
    ...MEMBER,
    method: "post",
    path: `${PATH}/{id}/secret/rotate`,
    scope: "admin",
    operationId: "rotateWebhookEndpointSecret",
    summary: "Rotate the secret of an endpoint; the old secret also signs for a day",
    answer: { status: 200, description: "The new secret.", schema: signingSecretRecordSchema },
    async handle(c) {
      const secret = await rotateSecretOfEndpoint(c.get("database"), readPathResourceId(c, TITLE))
      if (!secret) throw notFoundProblem(TITLE)
      return { body: toSigningSecretRecord(secret) }
    },
  }),
]

const TOO_MANY = `An account can have ${WEBHOOK_ENDPOINTS_MAX} webhook endpoints; delete an unused endpoint.`
