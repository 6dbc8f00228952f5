import { z } from "zod"
import { createFields } from "../../http/create-fields.ts"
import { fileKey } from "../../contract/task.ts"

const FILES_MAX = 64
const COMMANDS_MAX = 20
const LINE_LENGTH_MAX = 64 * 1024

const line = z
  .string("expected a text")
  .min(1, "it is empty")
  .max(LINE_LENGTH_MAX, `expected at most ${LINE_LENGTH_MAX} characters`)

/** A map of keys to texts; `what` names the field in its errors. */
function keyed(what: string) {
  return z
    .record(z.string(), z.string("expected a text"), `expected an object of keys and ${what}`)
    .superRefine((map, context) => {
      if (Object.keys(map).length > FILES_MAX) {
        context.addIssue({ code: "custom", message: `expected at most ${FILES_MAX} ${what}` })
      }
      for (const name of Object.keys(map)) {
        if (fileKey.safeParse(name).success) continue
        const message = "expected a key of 1 to 64 letters, digits and underscores"
        context.addIssue({ code: "custom", path: [name], message })
      }
    })
}

/** The body of POST /commands. */
export const commandRequest = z.strictObject(
  {
    ffmpeg_command: line.optional(),
    ffmpeg_commands: z
      .array(line, "expected an array of texts")
      .min(1, "expected at least one command")
      .max(COMMANDS_MAX, `expected at most ${COMMANDS_MAX} commands`)
      .optional(),
    input_files: keyed("input references"),
    output_files: keyed("file names").refine((map) => Object.keys(map).length > 0, {
      message: "expected at least one output",
    }),
    ...createFields,
  },
  "expected an object of fields",
)

export type CommandRequest = z.infer<typeof commandRequest>
