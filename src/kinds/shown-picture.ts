import { z } from "zod"
import type { ProbeResult } from "../contract/probe.ts"

/** A picture as it is shown: sides in pixels, and clockwise degrees by which it is turned for that. */
export type ShownPicture = { width?: number; height?: number; rotation?: number }

const sideData = z.object({ rotation: z.number().optional() })

const pictureStream = z.object({
  codec_type: z.literal("video"),
  width: z.int().optional().catch(undefined),
  height: z.int().optional().catch(undefined),
  disposition: z.object({ attached_pic: z.number().optional() }).optional().catch(undefined),
  side_data_list: z.array(sideData).optional().catch(undefined),
})

/** The stream whose picture is shown; covers are none. */
export function findPicture({ streams }: ProbeResult): ProbeResult["streams"][number] | undefined {
  return streams.find((stream) => {
    const read = pictureStream.safeParse(stream).data
    return read !== undefined && read.disposition?.attached_pic !== 1
  })
}

/** The picture of what was probed as players show it; empty where there is none. */
export function shownPicture(probe: ProbeResult): ShownPicture {
  // A probe that was cut to its size may have nothing but what stands at its top.
  const stored = probe.streams.length === 0 ? probe : findPicture(probe)
  if (stored === undefined) return {}
  const { side_data_list = [], ...sides } = pictureStream.partial().parse({
    width: probe.width,
    height: probe.height,
    ...stored,
  })
  const rotation = turnOf(side_data_list.find((each) => each.rotation !== undefined)?.rotation)
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
 * The quarter turns of a picture, in degrees clockwise; ffprobe counts them the other way round.
 * Players turn by no other angles.
 */
function turnOf(rotation = 0): number {
  return ((4 - (Math.round(rotation / 90) % 4)) % 4) * 90
}
