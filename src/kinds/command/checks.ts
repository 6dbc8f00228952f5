import { z } from "zod"
import type { FoundInput, JudgeFacts } from "../kind.ts"

/** What a validation says of its own reach: what it judged, and what only the run can tell. */
export const commandChecks = z
  .object({ judged: z.array(z.string()), left_to_run: z.array(z.string()) })
  .meta({ description: "What was judged, and what only ffmpeg tells as it runs the command." })

const BY_POLICY = "what a command may not do: files, options, filters and formats that are refused"
const BY_CAPABILITIES = [
  "names of options, filters and their options, encoders, decoders, formats and presets",
  "encoders that the output format cannot hold, and odd sizes that are written in numbers",
  "labels that no filter makes, and inputs without an end that nothing ends",
]
const BY_RUN = [
  "values of options and filters, and expressions in them",
  "whether filters fit each other, and the pictures and sound that they get",
  "which streams an output takes by itself, and whether its format holds those that are copied",
  "whether filters ever end what they make",
]

/** Says what is judged of commands with these inputs, where that much is known of ffmpeg and of the inputs. */
export function describeChecks(
  inputs: readonly FoundInput[],
  { ffmpeg }: Pick<JudgeFacts, "ffmpeg">,
): z.infer<typeof commandChecks> {
  const unknown = inputs.filter(({ file }) => !file?.probe).map(({ key }) => key)
  const isProbed = inputs.length > 0 && unknown.length === 0
  const names = unknown.join(", ")
  return {
    judged: [
      BY_POLICY,
      ...(ffmpeg ? BY_CAPABILITIES : []),
      ...(ffmpeg && isProbed ? ["streams that maps and labels ask for"] : []),
    ],
    left_to_run: [
      ...(ffmpeg ? [] : BY_CAPABILITIES),
      ...(unknown.length > 0 ? [`streams and lengths of inputs without a probe: ${names}`] : []),
      ...BY_RUN,
    ],
  }
}
