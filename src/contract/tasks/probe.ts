import { z } from "zod"
import { probeResult } from "../probe.ts"
import { taskWarnings } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

const LIGHT_INPUT_BYTES_MAX = 2 * 1024 ** 3
const ERROR_LENGTH_MAX = 1000

const work = z.object({
  kind: z.literal("probe"),
  input_bytes: z.int().nonnegative().default(0),
  /** Whether the job goes on where the input is not media; the result then says why. */
  is_optional: z.boolean().optional(),
})

/** Reads with ffprobe what the one input is. */
export const probeTask = {
  name: "probe",
  // A small runner has little disk, and the input lies there whole.
  pool: ({ input_bytes }) => (input_bytes > LIGHT_INPUT_BYTES_MAX ? "media" : "light"),
  tools: ["ffprobe"],
  work,
  result: z.object({
    kind: z.literal("probe"),
    probe: probeResult.optional(),
    /** Why an optional probe found nothing. */
    probe_error: z
      .string()
      .transform((text) => text.slice(0, ERROR_LENGTH_MAX))
      .optional(),
    warnings: taskWarnings,
  }),
} as const satisfies TaskDefinition<typeof work>

export type ProbeWork = z.infer<typeof work>
export type ProbeTaskResult = z.infer<typeof probeTask.result>
