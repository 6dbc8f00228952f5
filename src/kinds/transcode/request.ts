import { z } from "zod"
import {
  commonRequestFieldSchemas,
  publishFieldSchemas,
  webhookUrlSchema,
} from "../create-fields.ts"
import { lenientInputSchema } from "../private-input.ts"
import { INPUT_ADDRESS_FORMS } from "../../hints/addresses.ts"
import { EXAMPLE_INPUT_REFERENCE, inputReferenceSchema } from "../reference.ts"
import { renditionFieldSchemas } from "../renditions/request.ts"

/** Schema of the body of POST /transcode. */
export const transcodeRequestSchema = z
  .strictObject(
    {
      source: inputReferenceSchema.meta({
        description: `The video: ${INPUT_ADDRESS_FORMS}.`,
        format: "uri",
      }),
      ...renditionFieldSchemas,
      ...publishFieldSchemas,
      ...commonRequestFieldSchemas,
      webhook_url: webhookUrlSchema
        .nullish()
        .meta({ description: "Alternative name of `webhook`. Give only one of the two." }),
    },
    "expected an object of fields",
  )
  .meta({ id: "TranscodeRequest" })

export type TranscodeRequest = z.infer<typeof transcodeRequestSchema>

export const TRANSCODE_EXAMPLE_REQUEST = {
  source: EXAMPLE_INPUT_REFERENCE,
  outputs: [{ codec: "h264", resolution: "480p" }],
}

const text = z.string().optional().catch(undefined)

const usableRequest = z.object({
  source: lenientInputSchema.optional().catch(undefined),
  webhook: text,
  webhook_url: text,
})

export type ValidTranscodeFields = z.output<typeof usableRequest>

/** Returns the valid fields of a transcode request; omits invalid fields. */
export function readValidTranscodeFields(body: object): ValidTranscodeFields {
  return usableRequest.parse(body)
}
