import { z } from "zod"
import { boundedMap } from "./bounded-map.ts"

const METADATA_PAIRS_MAX = 10

/** The priority of a job whose request says none. */
export const PRIORITY_DEFAULT = 50

export const webhookUrl = z
  .string("expected a URL")
  .max(2048, "expected at most 2048 characters")
  .meta({ description: "An http or https URL that is called when the job ends.", format: "uri" })

const priority = z
  .int("expected a whole number from 0 to 100")
  .min(0, "expected a whole number from 0 to 100")
  .max(100, "expected a whole number from 0 to 100")
  .meta({ description: "Jobs of the account with a higher priority start first." })

/** How long a caller may have a job or a file kept, in seconds: a minute to a year. */
const KEPT_SECONDS = { min: 60, max: 366 * 86_400 }
const EXPECTED_KEPT = `expected a whole number of seconds from ${KEPT_SECONDS.min} to ${KEPT_SECONDS.max}`

const expiresIn = z
  .int(EXPECTED_KEPT)
  .min(KEPT_SECONDS.min, EXPECTED_KEPT)
  .max(KEPT_SECONDS.max, EXPECTED_KEPT)
  .meta({
    description:
      "How many seconds after its end the job is removed, with what it made and the files that came with it; its record then says expires_at. Kept where left out.",
  })

/** The priority in a request that may say it elsewhere too. */
export const optionalPriority = priority.optional()

/**
 * Fields that every create takes: `webhook`, called at the end; `metadata`, echoed back; `priority`,
 * higher first; `expires_in`, how long it is kept.
 */
export const createFields = {
  webhook: webhookUrl.nullish(),
  metadata: boundedMap(
    z.string().max(64, "expected keys of at most 64 characters"),
    z.string("expected a text").max(500, "expected at most 500 characters"),
    {
      most: METADATA_PAIRS_MAX,
      error: "expected an object of texts",
      tooMany: `expected at most ${METADATA_PAIRS_MAX} pairs`,
    },
  )
    .meta({
      description: "Texts of the caller's own, echoed in the record.",
      additionalProperties: { type: "string", maxLength: 500 },
      propertyNames: { type: "string", maxLength: 64 },
    })
    .nullish(),
  priority: priority.default(PRIORITY_DEFAULT),
  expires_in: expiresIn.nullish(),
}

/** The part of a form that is a file; or else a field names one. */
export function filePart(otherField: string) {
  return z
    .string()
    .optional()
    .meta({
      description: `The file; or else ${otherField}.`,
      override: { type: "string", format: "binary" },
    })
}
