import { z } from "zod"

/**
 * Maximum nesting depth of ffprobe's JSON, which normally has five levels. JSON with unlimited
 * nesting can be parsed but not serialized.
 */
const NESTING_MAX = 20

const section = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  if (nestsAtMost(value, NESTING_MAX)) return
  const shared = { origin: "array", maximum: NESTING_MAX, inclusive: true, input: value }
  context.addIssue({ code: "too_big", message: "the value is nested too deeply", ...shared })
})

/**
 * Result of ffprobe: `streams` and `format` as ffprobe prints them, and the most frequently
 * requested fields at the top level. Picture sizes are in pixels, and `duration` is in seconds. A
 * field is absent if the media file does not have the property.
 */
export const probeResultSchema = z.object({
  width: z.int().optional(),
  height: z.int().optional(),
  duration: z.number().optional(),
  format_name: z.string().max(1000),
  streams: z.array(section),
  format: section,
})

export type ProbeResult = z.infer<typeof probeResultSchema>

function nestsAtMost(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true
  return depth > 0 && Object.values(value).every((inner) => nestsAtMost(inner, depth - 1))
}

const EXACT_FORMATS = /^(?:mov|matroska|wav|w64|aiff|caf|flac|ogg)(?:,|$)/

/**
 * Reports whether files of a format store their exact duration in a header or an index. `format` is
 * ffprobe's name of the format.
 */
export function doesFormatStoreExactDuration(format: string): boolean {
  return EXACT_FORMATS.test(format)
}
