import { z } from "zod"
import { dateTimeSchema, toDateTime } from "../../../kinds/shared-record-fields.ts"
import type { WebhookEndpoint } from "../../../db/schema/deliveries.ts"

/** Schema of a webhook endpoint in responses, without its signing secret. */
export const endpointRecordSchema = z
  .object({
    id: z.uuid(),
    url: z.string(),
    events: z.array(z.string()),
    description: z.string(),
    enabled: z.boolean(),
    gone_at: dateTimeSchema.nullable().meta({
      description: "Time at which a 410 of the receiver disabled the endpoint; null if no 410 did.",
    }),
    created_at: dateTimeSchema,
  })
  .meta({ id: "WebhookEndpoint" })

/** Schema of a new webhook endpoint in the response, with its signing secret. */
export const createdEndpointRecordSchema = endpointRecordSchema
  .extend({
    secret: z.string().meta({ description: "The secret that signs the events of the endpoint." }),
  })
  .meta({ id: "MadeWebhookEndpoint" })

export type EndpointRecord = z.infer<typeof endpointRecordSchema>

export function toEndpointRecord(endpoint: WebhookEndpoint): EndpointRecord {
  const { id, url, events, description, enabled, goneAt, createdAt } = endpoint
  return {
    id,
    url,
    events,
    description,
    enabled,
    gone_at: toDateTime(goneAt),
    created_at: toDateTime(createdAt),
  }
}
