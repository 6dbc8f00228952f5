import { z } from "zod"

type Bounds = {
  most: number
  /**
   * Error message for a value that is not an object. `tooMany` is the error message for an object
   * with too many fields.
   */
  error: string | ((issue: { input?: unknown }) => string)
  tooMany: string
}

/**
 * Returns the schema of an object with at most `most` fields. The schema counts the fields before
 * it checks their values, so that a huge object is rejected cheaply.
 */
export function boundedMapSchema<Key extends z.ZodType<string, string>, Value extends z.ZodType>(
  key: Key,
  value: Value,
  { most, error, tooMany }: Bounds,
) {
  return z
    .record(z.string(), z.unknown(), { error })
    .refine((map) => Object.keys(map).length <= most, tooMany)
    .pipe(z.record(key, value))
    .meta({ maxProperties: most })
}
