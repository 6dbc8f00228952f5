import { z } from "zod"
import {
  BITRATE_KBPS_MAX,
  BITRATE_KBPS_MIN,
  CONTAINERS_OF_CODEC,
  RENDITION_CODECS,
  RENDITION_CONTAINERS,
  RENDITION_SIZES,
  RENDITIONS_MAX,
} from "../../contract/tasks/render.ts"
import type { RenditionCodec, RenditionContainer } from "../../contract/tasks/render.ts"

const EXPECTED_RATE = `expected a whole number from ${BITRATE_KBPS_MIN} to ${BITRATE_KBPS_MAX}`

const EXPECTED_RENDITIONS =
  'expected an array of renditions, as `[{"codec": "h264", "resolution": "720p"}]`'

const outputRendition = z
  .strictObject(
    {
      codec: z.enum(RENDITION_CODECS, `expected one of ${RENDITION_CODECS.join(", ")}`),
      resolution: z
        .enum(RENDITION_SIZES, `expected one of ${RENDITION_SIZES.join(", ")}`)
        .meta({ description: "The box that the picture fits in; it is never made larger." }),
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
            "The mean rate of the picture in kilobits a second; where left out, its quality decides.",
        }),
    },
    "expected an object of fields",
  )
  .superRefine(({ codec, container }, context) => {
    const message = judgeContainer(codec, container)
    if (message !== null) context.addIssue({ code: "custom", path: ["container"], message })
  })
  .meta({ id: "OutputRendition" })

/** The fields that say which renditions to make. */
export const renditionFields = {
  outputs: z
    .array(outputRendition, EXPECTED_RENDITIONS)
    .min(1, "expected at least one rendition")
    .max(RENDITIONS_MAX, `expected at most ${RENDITIONS_MAX} renditions`)
    .meta({ description: "The renditions to make; the Job's outputs are in the same order." }),
  quality_metrics: z.boolean("expected true or false").default(false).meta({
    description:
      "Whether the runner scores each rendition against its source: `quality` of the Job's outputs.",
  }),
}

const renditionRequest = z.object(renditionFields)

/** What a request says of its renditions. */
export type RenditionRequest = z.infer<typeof renditionRequest>

function judgeContainer(codec: RenditionCodec, container: RenditionContainer): string | null {
  const possible: readonly string[] = CONTAINERS_OF_CODEC[codec]
  if (possible.includes(container)) return null
  return `expected ${possible.join(" or ")}, since players take no ${codec} in ${container}`
}
