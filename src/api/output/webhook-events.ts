import { z } from "zod"
import type { oas31, ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi"
import { settingsSchema } from "../../bindings/settings.ts"
import { FINAL_STATES } from "../../domain/states.ts"
import type { FinalState } from "../../domain/states.ts"
import { BATCH_EVENT_TYPES } from "../../db/batches.ts"
import type { BatchEventType } from "../../db/batches.ts"
import { batchRecordSchema } from "../../kinds/batch-record.ts"
import { jobRecordSchema } from "../../kinds/job-record.ts"
import { getKind, JOB_LIST_KIND_NAMES } from "../../kinds/registry.ts"
import { makeEventType, TEST_EVENT_TYPE } from "../../webhooks/event-types.ts"
import { DELIVERY_TRY_MS_MAX } from "../../webhooks/post.ts"
import { makeSchemaReference } from "./schema-reference.ts"

const RETRY_SECONDS = settingsSchema.shape.WEBHOOK_RETRY_SECONDS.parse(undefined)

const DELIVERY_DESCRIPTION = `A 2xx answer within ${DELIVERY_TRY_MS_MAX / 1000} seconds delivers the event. Every other answer is a failed try; redirects are not followed. Further tries, with the same \`webhook-id\` and body, follow after ${RETRY_SECONDS.join(", ")} seconds, unless the operator set other times, and not before the time of \`Retry-After\` (a day at most). A 410 ends the tries and disables the endpoint of the event.`

const headers = z.object({
  "webhook-id": z.uuid().meta({ description: "Id of the delivery, the same for each try." }),
  "webhook-timestamp": z.string().meta({ description: "Time of the try, in seconds since 1970." }),
  "webhook-signature": z.string().meta({
    description:
      "Signatures of Standard Webhooks, one for each valid secret, separated by spaces: `v1,` and the base64 of the HMAC-SHA256 of id, timestamp and body, joined by full stops.",
  }),
  "x-request-id": z.string().optional().meta({
    description:
      "Id of the request that created the job or the batch; the signature does not cover it.",
  }),
})

/**
 * OpenAPI schema of the truncated record that a webhook sends as `data` if the whole record is too
 * large.
 */
export const TRUNCATED_RECORD_SCHEMA: oas31.SchemaObject = {
  type: "object",
  description: "A record beyond 256,000 bytes, whose largest fields are null.",
  required: ["id", "status", "truncated"],
  properties: {
    id: { type: "string", format: "uuid" },
    status: { type: "string" },
    truncated: {
      type: "array",
      items: { type: "string" },
      description: "Paths of the fields that are null, such as `ffprobe.format.tags`.",
    },
  },
}

const VERBS: Record<FinalState, string> = {
  succeeded: "succeeded",
  failed: "failed",
  canceled: "was canceled",
}

const BATCH_SUMMARIES: Record<BatchEventType, string> = {
  "batch.succeeded": "All jobs of a batch succeeded",
  "batch.failed": "All jobs of a batch ended, and some failed or were canceled",
}

/** Returns the `webhooks` section of the OpenAPI document, by event type. */
export function makeOpenApiWebhooks(): ZodOpenApiPathsObject {
  const ofJobs = JOB_LIST_KIND_NAMES.map(getKind).flatMap((kind) =>
    FINAL_STATES.map((state) => {
      const type = makeEventType(kind.name, state)
      const summary = `A ${kind.title} ${VERBS[state]}`
      const data = makeDataSchema([kind.record, jobRecordSchema])
      return [type, { post: makeWebhookOperation(type, summary, data) }] as const
    }),
  )
  const ofBatches = BATCH_EVENT_TYPES.map((type) => {
    const data = makeDataSchema([batchRecordSchema])
    return [type, { post: makeWebhookOperation(type, BATCH_SUMMARIES[type], data) }] as const
  })
  const test = makeWebhookOperation(TEST_EVENT_TYPE, "A test event", {
    type: "object",
    required: ["message"],
    properties: { message: { type: "string" } },
  })
  return Object.fromEntries([...ofJobs, ...ofBatches, [TEST_EVENT_TYPE, { post: test }]])
}

/** Returns the schema of a webhook's `data`: one of the records, or a truncated record. */
function makeDataSchema(records: readonly z.ZodType[]): oas31.SchemaObject {
  const references = new Map(records.map(makeSchemaReference).map((each) => [each.$ref, each]))
  return { anyOf: [...references.values(), { $ref: "#/components/schemas/TruncatedRecord" }] }
}

function makeWebhookOperation(
  type: string,
  summary: string,
  data: oas31.SchemaObject,
): ZodOpenApiOperationObject {
  return {
    operationId: `on.${type}`,
    summary,
    description: DELIVERY_DESCRIPTION,
    tags: ["webhooks"],
    security: [],
    requestParams: { header: headers },
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            type: "object",
            required: ["type", "timestamp", "data"],
            properties: {
              type: { type: "string", const: type },
              timestamp: { type: "string", format: "date-time" },
              data,
            },
          },
        },
      },
    },
    responses: {
      "2XX": { description: "The webhook is delivered." },
      "410": { description: "The tries end, and the endpoint is disabled." },
      default: { description: "A failed try." },
    },
  }
}
