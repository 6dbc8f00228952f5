import { z } from "zod"
import { dateTime, toDateTime } from "../../kinds/record-fields.ts"
import type { SigningSecret } from "../../pipeline/webhooks/account-webhooks.ts"

/** The secret that signs webhooks, and until when the one before it does; null where none does. */
export const secretRecord = z.object({
  secret: z.string(),
  previous_valid_until: dateTime.nullable(),
})

export function viewSecret({ secret, previousValidUntil }: SigningSecret) {
  return { secret, previous_valid_until: toDateTime(previousValidUntil) }
}
