import { z } from "zod"

const METADATA_PAIRS_MAX = 10

/** Fields that every create takes: `metadata`, echoed back, and `priority`, higher first. */
export const createFields = {
  metadata: z
    .record(z.string().min(1).max(64), z.string("expected a text").max(500))
    .refine((pairs) => Object.keys(pairs).length <= METADATA_PAIRS_MAX, {
      message: `expected at most ${METADATA_PAIRS_MAX} pairs`,
    })
    .optional(),
  priority: z
    .int("expected a whole number from 0 to 100")
    .min(0, "expected a whole number from 0 to 100")
    .max(100, "expected a whole number from 0 to 100")
    .default(50),
}
