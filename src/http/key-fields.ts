import { z } from "zod"
import { dateTime, toDateTime } from "../kinds/record-fields.ts"
import type { RotationRefusal } from "../pipeline/accounts/keys.ts"
import { SCOPES } from "../scopes.ts"
import { KEYS_MAX } from "../storage/account-keys.ts"
import type { Key } from "../storage/schema/accounts.ts"
import { Problem } from "./problem.ts"

const NAME_LENGTH_MAX = 100
const DAY_SECONDS = 86_400
const OVERLAP_SECONDS_MAX = 30 * DAY_SECONDS

export const keyName = z
  .string("expected a text")
  .trim()
  .min(1, "it is empty")
  .max(NAME_LENGTH_MAX, `expected at most ${NAME_LENGTH_MAX} characters`)
  // No pattern of the OpenAPI document, where few programs know classes of Unicode.
  .refine((name) => !/\p{Cc}/u.test(name), "expected one line of text")
  .meta({ description: "One line of text." })

/** Scopes of a key, each once and in their order. */
export const keyScopes = z
  .array(z.enum(SCOPES, `expected one of ${SCOPES.join(", ")}`), "expected a list of scopes")
  .min(1, `expected at least one of ${SCOPES.join(", ")}`)
  .max(SCOPES.length, "expected each scope once")
  .transform((given) => SCOPES.filter((scope) => given.includes(scope)))

/** When a key expires, in milliseconds; null for one that never does. */
export const keyExpiry = z.iso
  .datetime({ offset: true, error: "expected a date-time such as 2027-01-31T12:00:00Z, or null" })
  .transform((text) => Date.parse(text))
  .refine((moment) => moment > Date.now(), "it is over: expected a moment in the future")
  .nullable()

export const overlapSeconds = z
  .int("expected a whole number of seconds")
  .min(0, "expected 0 or more")
  .max(OVERLAP_SECONDS_MAX, `expected at most ${OVERLAP_SECONDS_MAX}, which is 30 days`)
  .default(DAY_SECONDS)

/** A key as lists and the dashboard show it. */
export const keyRecord = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ description: "Empty for a key that was made without one." }),
    prefix: z.string().meta({ description: "The first characters of the key." }),
    scopes: z.array(z.enum(SCOPES)),
    created_at: dateTime,
    expires_at: dateTime.nullable(),
    last_used_at: dateTime.nullable().meta({ description: "Some seconds late." }),
    revoked_at: dateTime.nullable(),
    replaced_by: z.uuid().nullable().meta({ description: "The key that rotation made of it." }),
  })
  .meta({ id: "Key" })

export function viewKey(key: Key): z.output<typeof keyRecord> {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes,
    created_at: toDateTime(key.createdAt),
    expires_at: toDateTime(key.expiresAt),
    last_used_at: toDateTime(key.lastUsedAt),
    revoked_at: toDateTime(key.revokedAt),
    replaced_by: key.replacedBy,
  }
}

export function tooManyKeys(): Problem {
  return new Problem(
    "key_limit_exceeded",
    `An account may have ${KEYS_MAX} keys that are neither revoked nor expired; revoke one that you need no more.`,
  )
}

/** The problem of a key that cannot be rotated. */
export function notRotatable(refusal: RotationRefusal, { replacedBy }: Key): Problem {
  if (refusal === "full") return tooManyKeys()
  const sentences = {
    revoked: "The key is revoked: create a new one.",
    expired: "The key has expired: create a new one.",
    replaced: `The key was rotated already: rotate ${replacedBy}, which took its place.`,
  }
  return new Problem("key_not_rotatable", sentences[refusal])
}
