import { z } from "zod"
import type { ProbeResult } from "../contract/probe.ts"

/**
 * Geometry of a video as players display it: width and height in pixels after rotation, and the
 * clockwise rotation in degrees.
 */
export type DisplayGeometry = { width?: number; height?: number; rotation?: number }

const sideData = z.object({ rotation: z.number().optional() })

const pictureStream = z.object({
  codec_type: z.literal("video"),
  width: z.int().optional().catch(undefined),
  height: z.int().optional().catch(undefined),
  disposition: z.object({ attached_pic: z.number().optional() }).optional().catch(undefined),
  side_data_list: z.array(sideData).optional().catch(undefined),
})

/** Returns the video stream that players display. Cover art does not count as video. */
export function findVideoStream({
  streams,
}: ProbeResult): ProbeResult["streams"][number] | undefined {
  return streams.find((stream) => {
    const read = pictureStream.safeParse(stream).data
    return read !== undefined && read.disposition?.attached_pic !== 1
  })
}

/**
 * Returns the displayed size and the rotation of media from a probe; an empty object for media
 * without video.
 */
export function computeDisplayGeometry(probe: ProbeResult): DisplayGeometry {
  // A probe that exceeded its size limit may be stored without streams, but with its top-level
  // fields.
  const stored = probe.streams.length === 0 ? probe : findVideoStream(probe)
  if (stored === undefined) return {}
  const { side_data_list = [], ...sides } = pictureStream.partial().parse({
    width: probe.width,
    height: probe.height,
    ...stored,
  })
  const rotation = clockwiseRotation(
    side_data_list.find((each) => each.rotation !== undefined)?.rotation,
  )
  const isUpright = rotation % 180 === 0
  const width = isUpright ? sides.width : sides.height
  const height = isUpright ? sides.height : sides.width
  return {
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
    ...(rotation !== 0 && { rotation }),
  }
}

/**
 * Converts ffprobe's counterclockwise rotation to clockwise degrees. The result is rounded to
 * quarter turns, because players apply no other angles.
 */
function clockwiseRotation(rotation = 0): number {
  return ((4 - (Math.round(rotation / 90) % 4)) % 4) * 90
}
