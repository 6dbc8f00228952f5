import { z } from "zod"
import {
  BITRATE_KBPS_MAX,
  BITRATE_KBPS_MIN,
  CONTAINERS_BY_CODEC,
  RENDITION_CODECS,
  RENDITION_CONTAINERS,
  RENDITION_SIZES,
  RENDITIONS_MAX,
} from "../../contract/tasks/render.ts"
import type { RenditionCodec, RenditionContainer } from "../../contract/tasks/render.ts"

const EXPECTED_RATE = `expected a whole number from ${BITRATE_KBPS_MIN} to ${BITRATE_KBPS_MAX}`

const EXPECTED_RENDITIONS =
  'expected an array of renditions, such as `[{"codec": "h264", "resolution": "720p"}]`'

const outputRendition = z
  .strictObject(
    {
      codec: z.enum(RENDITION_CODECS, `expected one of ${RENDITION_CODECS.join(", ")}`),
      resolution: z
        .enum(RENDITION_SIZES, `expected one of ${RENDITION_SIZES.join(", ")}`)
        .meta({ description: "Box that the picture fits in. The picture is never enlarged." }),
      container: z
        .enum(RENDITION_CONTAINERS, `expected one of ${RENDITION_CONTAINERS.join(", ")}`)
        .default("mp4")
        .meta({ description: "h264 and h265 go into mp4 and mov, vp9 and av1 into mp4 and webm." }),
      bitrate_kbps: z
        .int(EXPECTED_RATE)
        .min(BITRATE_KBPS_MIN, EXPECTED_RATE)
        .max(BITRATE_KBPS_MAX, EXPECTED_RATE)
        .optional()
        .meta({
          description:
            "Mean bitrate of the video in kilobits per second. Without it the encoder keeps a constant quality.",
        }),
    },
    "expected an object of fields",
  )
  .superRefine(({ codec, container }, context) => {
    const message = judgeContainer(codec, container)
    if (message !== null) context.addIssue({ code: "custom", path: ["container"], message })
  })
  .meta({ id: "OutputRendition" })

/** Schemas of the request fields that define which renditions to encode. */
export const renditionFieldSchemas = {
  outputs: z
    .array(outputRendition, EXPECTED_RENDITIONS)
    .min(1, "expected at least one rendition")
    .max(RENDITIONS_MAX, `expected at most ${RENDITIONS_MAX} renditions`)
    .meta({ description: "The renditions to make; the Job's outputs are in the same order." }),
  quality_metrics: z.boolean("expected true or false").default(false).meta({
    description:
      "Scores each rendition against its source; the Job's outputs have the score as `quality`.",
  }),
}

const renditionRequest = z.object(renditionFieldSchemas)

/** Fields of a request that define which renditions to encode. */
export type RenditionRequest = z.infer<typeof renditionRequest>

function judgeContainer(codec: RenditionCodec, container: RenditionContainer): string | null {
  const containers: readonly string[] = CONTAINERS_BY_CODEC[codec]
  if (containers.includes(container)) return null
  return `expected ${containers.join(" or ")}, since players do not play ${codec} in ${container}`
}
