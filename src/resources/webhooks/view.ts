import { toDateTime } from "../../http/status.ts"
import type { LoggedDelivery } from "../../storage/deliveries.ts"
import type { DeliveryTry } from "../../storage/schema.ts"

/** The record of a delivery, with every try that was made of it. */
export function viewDelivery({ delivery, tries }: LoggedDelivery) {
  return {
    id: delivery.id,
    job_id: delivery.jobId,
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
