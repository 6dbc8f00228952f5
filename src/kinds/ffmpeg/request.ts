import { z } from "zod"
import { COMMAND_LENGTH_MAX, FILES_MAX, NAME_LENGTH_MAX } from "../command/request.ts"
import { createFields, webhookUrl } from "../create-fields.ts"
import { inputReference } from "../reference.ts"

/** The body of POST /ffmpeg. */
export const ffmpegRequest = z
  .strictObject(
    {
      inputs: z
        .array(inputReference.meta({ format: "uri" }), "expected an array of URIs")
        .max(FILES_MAX, `expected at most ${FILES_MAX} inputs`)
        .meta({
          description:
            "The inputs in_1, in_2 and so on: each svc_id://<uuid>, a File's download_url, a public URL or s3://<bucket>/<key>.",
        }),
      command: z
        .string("expected a text")
        .min(1, "it is empty")
        .max(COMMAND_LENGTH_MAX, `expected at most ${COMMAND_LENGTH_MAX} characters`)
        .meta({
          description:
            "Arguments of FFmpeg. Inputs are named as {{in_1}}, in_1 or by their URIs; the output as {{out_1}}, out_1 or by output_filename, and is appended where it is not named.",
        }),
      output_filename: z
        .string("expected a text")
        .min(1, "it is empty")
        .max(NAME_LENGTH_MAX, `expected at most ${NAME_LENGTH_MAX} characters`)
        .nullish()
        .meta({
          description:
            "The name of the output; without it, the last plain word of the command. A command that ends in -f null - keeps no file and needs none.",
        }),
      ...createFields,
      webhook_url: webhookUrl.nullish().meta({ description: "The same as webhook; not both." }),
    },
    "expected an object of fields",
  )
  .meta({ id: "FfmpegRequest" })

export type FfmpegRequest = z.infer<typeof ffmpegRequest>

/** A request that needs no upload. */
export const EXAMPLE = {
  inputs: [],
  command: "-f lavfi -i testsrc2=size=320x180:duration=1 -c:v libx264 -pix_fmt yuv420p",
  output_filename: "bars.mp4",
}

const text = z.string().optional().catch(undefined)

const usableRequest = z.object({
  /** What is no text stands as null, so that the others keep their places. */
  inputs: z.array(z.string().nullable().catch(null)).catch([]),
  /** A longer one is refused for that alone, since judging it would take its time. */
  command: z.string().max(COMMAND_LENGTH_MAX).optional().catch(undefined),
  output_filename: text,
  webhook: text,
  webhook_url: text,
})

export type UsableFfmpeg = z.output<typeof usableRequest>

/** What of a body can be used, whatever else is wrong with it. */
export function readUsable(body: object): UsableFfmpeg {
  const usable = usableRequest.parse(body)
  return { ...usable, inputs: usable.inputs.slice(0, FILES_MAX) }
}
