import { z } from "zod"
import { dateTimeSchema, toDateTime } from "../../../kinds/shared-record-fields.ts"
import { isBatchDelivery } from "../../../webhooks/batch-event.ts"
import type { DeliveryWithTries } from "../../../db/deliveries.ts"
import type { DeliveryTry } from "../../../db/schema/deliveries.ts"
import { DELIVERY_STATES } from "../../../domain/states.ts"

const tryRecord = z.object({
  number: z.int(),
  at: dateTimeSchema,
  status: z.int().nullable(),
  duration_ms: z.int(),
  error: z.string().optional(),
  answer: z.string().nullable(),
})

/** Schema of a webhook delivery with all its tries in responses. */
export const deliveryRecordSchema = z
  .object({
    id: z.uuid(),
    job_id: z.uuid().nullable(),
    batch_id: z.uuid().optional().meta({ description: "The batch whose end the event reports." }),
    endpoint_id: z
      .uuid()
      .nullable()
      .meta({ description: "The endpoint of the delivery; null for the URL of a request." }),
    type: z.string(),
    url: z.string(),
    status: z.enum(DELIVERY_STATES),
    tries: z.array(tryRecord),
    created_at: dateTimeSchema,
    next_try_at: dateTimeSchema.nullable(),
    completed_at: dateTimeSchema.nullable(),
  })
  .meta({ id: "Delivery" })

export type DeliveryRecord = z.infer<typeof deliveryRecordSchema>

export function toDeliveryRecord({ delivery, tries }: DeliveryWithTries): DeliveryRecord {
  return {
    id: delivery.id,
    job_id: isBatchDelivery(delivery) ? null : delivery.jobId,
    ...(isBatchDelivery(delivery) && delivery.jobId !== null && { batch_id: delivery.jobId }),
    endpoint_id: delivery.endpointId === "" ? null : delivery.endpointId,
    type: delivery.type,
    url: delivery.url,
    status: delivery.state,
    tries: tries.map(viewTry),
    created_at: toDateTime(delivery.createdAt),
    next_try_at: delivery.state === "waiting" ? toDateTime(delivery.nextTryAt) : null,
    completed_at: toDateTime(delivery.completedAt),
  }
}

function viewTry({ number, startedAt, status, durationMs, error, answer }: DeliveryTry) {
  return {
    number,
    at: toDateTime(startedAt),
    status,
    duration_ms: durationMs,
    ...(error !== null && { error }),
    answer,
  }
}
