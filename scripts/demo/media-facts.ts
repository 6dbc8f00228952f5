import { z } from "zod"
import type { ProbeResult } from "../../src/contract/probe.ts"

const stream = z.object({
  index: z.int(),
  codec_type: z.string().optional(),
  codec_name: z.string().optional(),
  disposition: z.object({ attached_pic: z.number().optional() }).optional(),
})

const PICTURE_FORMATS = /^image2$|_pipe$/

export type ProbedStream = z.infer<typeof stream>

/**
 * Returns the first video stream and the first audio stream of a probe. Cover art does not count as
 * video.
 */
export function findMainStreams(probe: ProbeResult) {
  const streams = probe.streams.map((each) => stream.parse(each))
  return {
    video: streams.find((each) => each.codec_type === "video" && !each.disposition?.attached_pic),
    audio: streams.find((each) => each.codec_type === "audio"),
  }
}

/** Reports whether a probed file is a single image. */
export function isStillImage(probe: ProbeResult): boolean {
  return PICTURE_FORMATS.test(probe.format_name)
}
