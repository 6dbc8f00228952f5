import type { Fault } from "../faults.ts"

/** What is wrong with a request that may name its webhook in both forms: it does. */
export function judgeWebhooks(request: {
  webhook?: string | undefined
  webhook_url?: string | undefined
}): Fault[] {
  const { webhook, webhook_url } = request
  if (webhook === undefined || webhook_url === undefined) return []
  return [{ field: "webhook_url", message: "expected it or webhook, and not both" }]
}
