import { z } from "zod"
import { probeResultSchema } from "../probe.ts"
import { taskWarningsSchema } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

const LIGHT_INPUT_BYTES_MAX = 2 * 1024 ** 3
const ERROR_LENGTH_MAX = 1000

const work = z.object({
  kind: z.literal("probe"),
  input_bytes: z.int().nonnegative().default(0),
  /**
   * Whether the job continues if the input is not media. The result then contains the reason in
   * place of a probe.
   */
  is_optional: z.boolean().optional(),
})

const errorText = z.string().transform((text) => text.slice(0, ERROR_LENGTH_MAX))

/**
 * Task that runs ffprobe on its input. The result has neither `probe` nor `probe_error` for an
 * input that is not meant as media, such as a text file.
 */
export const probeTaskDefinition = {
  name: "probe",
  // Large inputs go to the pool `media`, because the whole input has to fit on the runner's disk
  // and runners of the pool `light` have small disks.
  pool: ({ input_bytes }) => (input_bytes > LIGHT_INPUT_BYTES_MAX ? "media" : "light"),
  tools: ["ffprobe"],
  work,
  result: z.object({
    kind: z.literal("probe"),
    probe: probeResultSchema.optional(),
    /**
     * Reason why an optional probe failed, followed by the lines that ffprobe printed, in one text.
     */
    probe_error: errorText.optional(),
    probe_lines: errorText.optional(),
    warnings: taskWarningsSchema,
  }),
} as const satisfies TaskDefinition<typeof work>

export type ProbeWork = z.infer<typeof work>
export type ProbeTaskResult = z.infer<typeof probeTaskDefinition.result>
