import { z } from "zod"
import {
  COMMAND_LENGTH_MAX,
  COMMAND_FILES_MAX,
  OUTPUT_NAME_LENGTH_MAX,
} from "../command/request.ts"
import {
  commonRequestFieldSchemas,
  publishFieldSchemas,
  webhookUrlSchema,
} from "../create-fields.ts"
import { lenientInputSchema } from "../private-input.ts"
import { INPUT_ADDRESS_FORMS } from "../../hints/addresses.ts"
import { inputReferenceSchema } from "../reference.ts"

/** Schema of the body of POST /ffmpeg. */
export const ffmpegRequestSchema = z
  .strictObject(
    {
      inputs: z
        .array(inputReferenceSchema.meta({ format: "uri" }), "expected an array of URIs")
        .max(COMMAND_FILES_MAX, `expected at most ${COMMAND_FILES_MAX} inputs`)
        .meta({
          description: `The inputs in_1, in_2 and so on: each ${INPUT_ADDRESS_FORMS}.`,
        }),
      command: z
        .string("expected a string")
        .min(1, "it is empty")
        .max(COMMAND_LENGTH_MAX, `expected at most ${COMMAND_LENGTH_MAX} characters`)
        .meta({
          description:
            "Arguments of FFmpeg. They name inputs as {{in_1}}, in_1 or by URI, and the output as {{out_1}}, out_1 or by output_filename, which is appended if it is missing.",
        }),
      output_filename: z
        .string("expected a string")
        .min(1, "it is empty")
        .max(OUTPUT_NAME_LENGTH_MAX, `expected at most ${OUTPUT_NAME_LENGTH_MAX} characters`)
        .nullish()
        .meta({
          description:
            "Name of the output; the last plain word of the command by default. A command that ends in -f null - or in standard output keeps no file and needs no name.",
        }),
      ...publishFieldSchemas,
      ...commonRequestFieldSchemas,
      webhook_url: webhookUrlSchema
        .nullish()
        .meta({ description: "Alternative name of `webhook`. Give only one of the two." }),
    },
    "expected an object of fields",
  )
  .meta({ id: "FfmpegRequest" })

export type FfmpegRequest = z.infer<typeof ffmpegRequestSchema>

/** Example of a request to POST /ffmpeg that needs no uploaded file. */
export const FFMPEG_EXAMPLE_REQUEST = {
  inputs: [],
  command: "-f lavfi -i testsrc2=size=320x180:duration=1 -c:v libx264 -pix_fmt yuv420p",
  output_filename: "bars.mp4",
}

const text = z.string().optional().catch(undefined)

const usableRequest = z.object({
  /**
   * Inputs of the request. An invalid input becomes null, so that the other inputs keep their
   * positions.
   */
  inputs: z.array(lenientInputSchema.nullable().catch(null)).catch([]),
  /** Command of the request; undefined for a command that is too long to be checked. */
  command: z.string().max(COMMAND_LENGTH_MAX).optional().catch(undefined),
  /** Name of the output; undefined for a name that is too long to be checked. */
  output_filename: z.string().max(OUTPUT_NAME_LENGTH_MAX).optional().catch(undefined),
  webhook: text,
  webhook_url: text,
})

export type ValidFfmpegFields = z.output<typeof usableRequest>

/** Returns the valid fields of a request to POST /ffmpeg; omits invalid fields. */
export function readValidFfmpegFields(body: object): ValidFfmpegFields {
  const usable = usableRequest.parse(body)
  return { ...usable, inputs: usable.inputs.slice(0, COMMAND_FILES_MAX) }
}
