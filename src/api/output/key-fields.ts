import { z } from "zod"
import { dateTimeSchema, toDateTime } from "../../kinds/shared-record-fields.ts"
import type { ApiKeyRotationRefusal } from "../../accounts/keys.ts"
import { SCOPES } from "../../domain/scopes.ts"
import { parseDateTime } from "../../hints/values.ts"
import { VALID_API_KEYS_MAX } from "../../db/accounts/account-keys.ts"
import type { ApiKey } from "../../db/schema/accounts.ts"
import { Problem } from "./problem.ts"

const NAME_LENGTH_MAX = 100
const DAY_SECONDS = 86_400
const OVERLAP_SECONDS_MAX = 30 * DAY_SECONDS

export const keyNameSchema = z
  .string("expected a string")
  .trim()
  .min(1, "it is empty")
  .max(NAME_LENGTH_MAX, `expected at most ${NAME_LENGTH_MAX} characters`)
  // A refinement checks the name, because few OpenAPI tools support Unicode classes in a `pattern`.
  .refine((name) => !/\p{Cc}/u.test(name), "expected one line of text")
  .meta({ description: "One line of text." })

/** Schema of the scopes of an API key; removes duplicates and sorts the scopes. */
export const keyScopesSchema = z
  .array(z.enum(SCOPES, `expected one of ${SCOPES.join(", ")}`), "expected a list of scopes")
  .min(1, `expected at least one of ${SCOPES.join(", ")}`)
  .max(SCOPES.length, "expected each scope once")
  .transform((scopes) => SCOPES.filter((scope) => scopes.includes(scope)))

const EXPECTED_EXPIRY = "expected a date-time such as 2027-01-31T12:00:00Z, or null"
const PAST_EXPIRY = "it is in the past: expected a moment in the future, or null"

/** Schema of the expiry of an API key; parses to ms since the epoch, or null without expiry. */
export const keyExpirySchema = z.iso
  .datetime({
    offset: true,
    error: ({ input }) => {
      return (parseDateTime(input) ?? Date.now()) < Date.now() ? PAST_EXPIRY : EXPECTED_EXPIRY
    },
  })
  .transform((text) => Date.parse(text))
  .refine((moment) => moment > Date.now(), PAST_EXPIRY)
  .nullable()

export const keyRotationOverlapSecondsSchema = z
  .int("expected a whole number of seconds")
  .min(0, "expected 0 or more")
  .max(OVERLAP_SECONDS_MAX, `expected at most ${OVERLAP_SECONDS_MAX}, which is 30 days`)
  .default(DAY_SECONDS)

/** Schema of an API key in responses, without its secret. */
export const apiKeyRecordSchema = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ description: "Empty if the key has no name." }),
    prefix: z.string().meta({ description: "The first characters of the key." }),
    scopes: z.array(z.enum(SCOPES)),
    created_at: dateTimeSchema,
    expires_at: dateTimeSchema.nullable(),
    last_used_at: dateTimeSchema.nullable().meta({ description: "Delayed by some seconds." }),
    revoked_at: dateTimeSchema.nullable(),
    replaced_by: z
      .uuid()
      .nullable()
      .meta({ description: "Id of the key that replaced this key by rotation." }),
  })
  .meta({ id: "Key" })

export function toApiKeyRecord(key: ApiKey): z.output<typeof apiKeyRecordSchema> {
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

export function tooManyKeysProblem(): Problem {
  return new Problem(
    "key_limit_exceeded",
    `An account may have ${VALID_API_KEYS_MAX} valid keys; revoke a key that you no longer need.`,
  )
}

/** Returns the error response for an API key that cannot be rotated. */
export function keyNotRotatableProblem(
  refusal: ApiKeyRotationRefusal,
  { replacedBy }: ApiKey,
): Problem {
  if (refusal === "full") return tooManyKeysProblem()
  const sentences = {
    revoked: "The key is revoked: create a new one.",
    expired: "The key has expired: create a new one.",
    replaced: `The key was already rotated: rotate its replacement ${replacedBy}.`,
  }
  return new Problem("key_not_rotatable", sentences[refusal])
}
