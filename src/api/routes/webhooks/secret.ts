import { z } from "zod"
import { dateTimeSchema, toDateTime } from "../../../kinds/shared-record-fields.ts"
import type { SigningSecret } from "../../../webhooks/account-webhooks.ts"

/**
 * Schema of a signing secret of webhooks in responses. `previous_valid_until` is the time at which
 * the previous secret stops signing; null if no previous secret still signs.
 */
export const signingSecretRecordSchema = z.object({
  secret: z.string(),
  previous_valid_until: dateTimeSchema.nullable(),
})

export function toSigningSecretRecord({ secret, previousValidUntil }: SigningSecret) {
  return { secret, previous_valid_until: toDateTime(previousValidUntil) }
}
