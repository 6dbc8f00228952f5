import { z } from "zod"
import { OUTPUTS_MAX, outputReportSchema } from "../report.ts"
import { taskOutputSchema, taskWarningsSchema } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

/** Task that runs ffmpeg commands one after the other, in one workspace. */
export const commandTaskDefinition = {
  name: "command",
  pool: () => "media",
  tools: ["ffmpeg", "ffprobe"],
  work: z.object({
    kind: z.literal("command"),
    /**
     * Arguments of each command, without the program's name. Keys of inputs and outputs stand for
     * the file names.
     */
    commands: z.array(z.array(z.string()).min(1)).min(1),
    /** Outputs of the commands; empty if the commands run only for the log of ffmpeg. */
    outputs: z.array(taskOutputSchema),
    run_seconds_max: z.int().positive(),
    /**
     * Kind of request that created the job: POST /commands or POST /ffmpeg. Messages that refuse a
     * filter graph file use the field names of that request.
     */
    form: z.enum(["command", "ffmpeg"]).default("command"),
  }),
  result: z.object({
    kind: z.literal("command"),
    outputs: z.array(outputReportSchema).max(OUTPUTS_MAX),
    warnings: taskWarningsSchema,
  }),
} as const satisfies TaskDefinition

export type CommandWork = z.infer<typeof commandTaskDefinition.work>
export type CommandResult = z.infer<typeof commandTaskDefinition.result>
