import { z } from "zod"

type Bounds = {
  most: number
  /** The error of a value that is no object, and of one with too many fields. */
  error: string | ((issue: { input?: unknown }) => string)
  tooMany: string
}

/** The schema of an object of at most `most` fields, whose number is judged before its values are. */
export function boundedMap<Key extends z.ZodType<string, string>, Value extends z.ZodType>(
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
