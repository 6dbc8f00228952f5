import { z } from "zod"

/**
 * What ffprobe says of a file: `streams` and `format` as the tool gives them, and what callers
 * look for first at the top. Sizes in pixels, `duration` in seconds; a fact the media does not
 * have is left out.
 */
export const probeResult = z.object({
  width: z.int().optional(),
  height: z.int().optional(),
  duration: z.number().optional(),
  format_name: z.string(),
  streams: z.array(z.record(z.string(), z.unknown())),
  format: z.record(z.string(), z.unknown()),
})

export type ProbeResult = z.infer<typeof probeResult>
