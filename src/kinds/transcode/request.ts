import { z } from "zod"
import { createFields, webhookUrl } from "../create-fields.ts"
import { EXAMPLE_INPUT, inputReference } from "../reference.ts"
import { renditionFields } from "../renditions/request.ts"

/** The body of POST /transcode. */
export const transcodeRequest = z
  .strictObject(
    {
      source: inputReference.meta({
        description:
          "The video: a public URL, s3://<bucket>/<key>, svc_id://<uuid> or a File's download_url.",
        format: "uri",
      }),
      ...renditionFields,
      ...createFields,
      webhook_url: webhookUrl.nullish().meta({ description: "The same as webhook; not both." }),
    },
    "expected an object of fields",
  )
  .meta({ id: "TranscodeRequest" })

export type TranscodeRequest = z.infer<typeof transcodeRequest>

export const EXAMPLE = {
  source: EXAMPLE_INPUT,
  outputs: [{ codec: "h264", resolution: "480p" }],
}

const text = z.string().optional().catch(undefined)

const usableRequest = z.object({ source: text, webhook: text, webhook_url: text })

export type UsableTranscode = z.output<typeof usableRequest>

/** What of a body can be used, whatever else is wrong with it. */
export function readUsable(body: object): UsableTranscode {
  return usableRequest.parse(body)
}
