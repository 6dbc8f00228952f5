import { z } from "zod"
import { createFields } from "../create-fields.ts"
import { EXAMPLE_INPUT, inputReference } from "../reference.ts"

/** A number from one bound to another, both included. */
function between(least: number, most: number, unit: string) {
  const message = `expected a number from ${least} to ${most} (${unit})`
  return z.number(message).min(least, message).max(most, message)
}

/** The loudness to reach; by default the one of EBU R 128. */
export const targetFields = {
  loudnorm_i: between(-70, -5, "LUFS")
    .default(-23)
    .meta({ description: "Integrated loudness in LUFS; EBU R 128 has -23." }),
  loudnorm_lra: between(1, 50, "LU").default(20).meta({
    description:
      "The most loudness range in LU: sound of a wider one is compressed. EBU R 128 sets none; 20 is its advice for most programmes.",
  }),
  loudnorm_tp: between(-9, 0, "dBTP")
    .default(-1)
    .meta({ description: "The most true peak in dBTP; EBU R 128 has -1." }),
}

/** The body of POST /normalize. */
export const normalizeRequest = z
  .strictObject(
    {
      file_url: inputReference.meta({
        description:
          "The media: svc_id://<uuid>, a File's download_url, or a public URL to bring in.",
      }),
      ...targetFields,
      ...createFields,
    },
    "expected an object of fields",
  )
  .meta({ id: "NormalizationRequest" })

export type NormalizeRequest = z.infer<typeof normalizeRequest>

export const EXAMPLE = { file_url: EXAMPLE_INPUT, loudnorm_i: -16 }

const usableRequest = z.object({ file_url: z.string().optional().catch(undefined) })

export type UsableNormalize = z.output<typeof usableRequest>

/** What of a body can be used, whatever else is wrong with it. */
export function readUsable(body: object): UsableNormalize {
  return usableRequest.parse(body)
}
