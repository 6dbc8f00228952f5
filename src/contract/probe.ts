import { z } from "zod"

/** ffprobe nests five deep; text that nests without end could be parsed and not written again. */
const NESTING_MAX = 20

const section = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  if (nestsAtMost(value, NESTING_MAX)) return
  const shared = { origin: "array", maximum: NESTING_MAX, inclusive: true, input: value }
  context.addIssue({ code: "too_big", message: "it nests too deep", ...shared })
})

/**
 * What ffprobe says of a file: `streams` and `format` as the tool gives them, and what callers
 * look for first at the top. Sizes in pixels, `duration` in seconds; a fact the media does not
 * have is left out.
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

/** Whether files of a format, as ffprobe names it, say in a header or an index how long they last. */
export function hasExactLength(format: string): boolean {
  return EXACT_FORMATS.test(format)
}
