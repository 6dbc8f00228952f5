import { z } from "zod"
import { dateTime, toDateTime } from "../../../kinds/shared-record-fields.ts"
import type { SigningSecret } from "../../../webhooks/account-webhooks.ts"

/**
 * Schema of a signing secret of webhooks in responses. `previous_valid_until` is the time at which
 * the previous secret stops signing; null if no previous secret still signs.
 */
export const secretRecord = z.object({
  secret: z.string(),
  previous_valid_until: dateTime.nullable(),
})

export function viewSecret({ secret, previousValidUntil }: SigningSecret) {
  return { secret, previous_valid_until: toDateTime(previousValidUntil) }
}
