import { z } from "zod"

/**
 * Maximum depth of ffprobe's JSON, which has five levels. JSON nested without limit can be parsed
 * but not serialized.
 */
const NESTING_MAX = 20

const section = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  if (nestsAtMost(value, NESTING_MAX)) return
  const shared = { origin: "array", maximum: NESTING_MAX, inclusive: true, input: value }
  context.addIssue({ code: "too_big", message: "the value is nested too deeply", ...shared })
})

/**
 * Result of ffprobe: `streams` and `format` as ffprobe writes them, and the most requested fields
 * at the top. Sizes are in pixels, `duration` in seconds. A field that the media does not have is
 * absent.
 */
export const probeResult = z.object({
  width: z.int().optional(),
  height: z.int().optional(),
  duration: z.number().optional(),
  format_name: z.string().max(1000),
  streams: z.array(section),
  format: section,
})

export type ProbeResult = z.infer<typeof probeResult>

function nestsAtMost(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true
  return depth > 0 && Object.values(value).every((inner) => nestsAtMost(inner, depth - 1))
}

const EXACT_FORMATS = /^(?:mov|matroska|wav|w64|aiff|caf|flac|ogg)(?:,|$)/

/**
 * Reports whether files of a format, by ffprobe's name, store their exact duration in a header or
 * an index.
 */
export function storesExactDuration(format: string): boolean {
  return EXACT_FORMATS.test(format)
}
