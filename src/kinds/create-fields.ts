import { z } from "zod"
import { boundedMapSchema } from "./bounded-map.ts"

const METADATA_PAIRS_MAX = 10
export const METADATA_NAME_LENGTH_MAX = 64
export const METADATA_VALUE_LENGTH_MAX = 500

/** Default priority of a job, if its request sets no priority. */
export const PRIORITY_DEFAULT = 50

export const webhookUrlSchema = z
  .string("expected a URL")
  .max(2048, "expected at most 2048 characters")
  .meta({
    description: "An http or https URL that receives a POST request when the job ends.",
    format: "uri",
  })

const priority = z
  .int("expected a whole number from 0 to 100")
  .min(0, "expected a whole number from 0 to 100")
  .max(100, "expected a whole number from 0 to 100")
  .meta({ description: "Jobs of the account with a higher priority start first." })

/** Limits of `expires_in` in seconds: from one minute to 366 days. */
const RETENTION_SECONDS = { min: 60, max: 366 * 86_400 }
const EXPECTED_RETENTION = `expected a whole number of seconds from ${RETENTION_SECONDS.min} to ${RETENTION_SECONDS.max}`

const expiresIn = z
  .int(EXPECTED_RETENTION)
  .min(RETENTION_SECONDS.min, EXPECTED_RETENTION)
  .max(RETENTION_SECONDS.max, EXPECTED_RETENTION)
  .meta({
    description:
      "Seconds from the end of the job to its removal, with its outputs and the files that its request stored; the record then has `expires_at`. Without it the service keeps the job.",
  })

/** Schema of the field `publish`, for requests whose jobs create files of the account. */
export const publishFieldSchemas = {
  publish: z.boolean("expected true or false").optional().meta({
    description:
      "Whether the Files that the job makes are public from its success on. A failed job publishes nothing.",
    default: false,
  }),
}

/** Schema of `priority` without a default, for bodies with `priority` at two levels. */
export const optionalPrioritySchema = priority.optional()

/**
 * Schemas of the fields that every job request has. `webhook` is called at the job's end, the
 * record repeats `metadata`, a higher `priority` runs first, and `expires_in` is the retention.
 */
export const commonRequestFieldSchemas = {
  webhook: webhookUrlSchema.nullish(),
  metadata: boundedMapSchema(
    z
      .string()
      .max(
        METADATA_NAME_LENGTH_MAX,
        `expected keys of at most ${METADATA_NAME_LENGTH_MAX} characters`,
      ),
    z
      .string("expected a string")
      .max(METADATA_VALUE_LENGTH_MAX, `expected at most ${METADATA_VALUE_LENGTH_MAX} characters`),
    {
      most: METADATA_PAIRS_MAX,
      error: "expected an object of strings",
      tooMany: `expected at most ${METADATA_PAIRS_MAX} pairs`,
    },
  )
    .meta({
      description: "String values of the caller, echoed in the record.",
      additionalProperties: { type: "string", maxLength: METADATA_VALUE_LENGTH_MAX },
      propertyNames: { type: "string", maxLength: METADATA_NAME_LENGTH_MAX },
    })
    .nullish(),
  priority: priority.default(PRIORITY_DEFAULT),
  expires_in: expiresIn.nullish(),
}

/**
 * Returns the schema of the part `file` of a multipart request. A request may have the field
 * `otherField` instead.
 */
export function makeFilePartSchema(otherField: string) {
  return z
    .string()
    .optional()
    .meta({
      description: `The file, instead of ${otherField}.`,
      override: { type: "string", format: "binary" },
    })
}
