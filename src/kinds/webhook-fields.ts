import type { Fault } from "../domain/faults.ts"

/**
 * Returns the fault of a request that sets both `webhook` and `webhook_url`; an empty list
 * otherwise.
 */
export function findWebhookConflicts(request: {
  webhook?: string | undefined
  webhook_url?: string | undefined
}): Fault[] {
  const { webhook, webhook_url } = request
  if (webhook === undefined || webhook_url === undefined) return []
  return [{ field: "webhook_url", message: "expected webhook_url or webhook, not both" }]
}
