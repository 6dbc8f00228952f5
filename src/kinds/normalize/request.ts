import { z } from "zod"
import { commonRequestFieldSchemas, publishFieldSchemas } from "../create-fields.ts"
import { lenientInputSchema } from "../private-input.ts"
import { INPUT_ADDRESS_FORMS } from "../../hints/addresses.ts"
import { EXAMPLE_INPUT_REFERENCE, inputReferenceSchema } from "../reference.ts"

/** Returns the schema of a number between two limits, both inclusive. */
function numberBetween(least: number, most: number, unit: string) {
  const message = `expected a number from ${least} to ${most} (${unit})`
  return z.number(message).min(least, message).max(most, message)
}

/** Schemas of the fields for the target loudness. The defaults are those of EBU R 128. */
export const loudnessTargetFieldSchemas = {
  loudnorm_i: numberBetween(-70, -5, "LUFS")
    .default(-23)
    .meta({ description: "Target of the integrated loudness in LUFS. EBU R 128 sets -23." }),
  loudnorm_lra: numberBetween(1, 50, "LU").default(20).meta({
    description:
      "Maximum loudness range in LU; audio with a wider range is compressed. EBU R 128 sets no limit and advises 20 for most programmes.",
  }),
  loudnorm_tp: numberBetween(-9, 0, "dBTP")
    .default(-1)
    .meta({ description: "Maximum true peak in dBTP. EBU R 128 sets -1." }),
}

/** Schema of the body of POST /normalize. */
export const normalizeRequestSchema = z
  .strictObject(
    {
      file_url: inputReferenceSchema.meta({
        description: `The media: ${INPUT_ADDRESS_FORMS}.`,
      }),
      ...loudnessTargetFieldSchemas,
      ...publishFieldSchemas,
      ...commonRequestFieldSchemas,
    },
    "expected an object of fields",
  )
  .meta({ id: "NormalizationRequest" })

export type NormalizeRequest = z.infer<typeof normalizeRequestSchema>

export const NORMALIZE_EXAMPLE_REQUEST = { file_url: EXAMPLE_INPUT_REFERENCE, loudnorm_i: -16 }

const usableRequest = z.object({ file_url: lenientInputSchema.optional().catch(undefined) })

export type ValidNormalizeFields = z.output<typeof usableRequest>

/** Returns the valid fields of a normalization request; omits invalid fields. */
export function readValidNormalizeFields(body: object): ValidNormalizeFields {
  return usableRequest.parse(body)
}
