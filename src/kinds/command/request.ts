import { z } from "zod"
import { cutText } from "../../cut-text.ts"
import { fileKey } from "../../contract/task.ts"
import { boundedMap } from "../bounded-map.ts"
import { createFields } from "../create-fields.ts"
import { IMPORT_URL_LENGTH_MAX } from "../import-url.ts"
import { describeKey, describeNoMap } from "../../hints/keyed.ts"

export const FILES_MAX = 64
const COMMANDS_MAX = 20
export const COMMAND_LENGTH_MAX = 64 * 1024
export const NAME_LENGTH_MAX = 2048

const line = z
  .string({ error: ({ input }) => describeNoLine(input) })
  .min(1, "it is empty")
  .max(COMMAND_LENGTH_MAX, `expected at most ${COMMAND_LENGTH_MAX} characters`)

/** A map of keys to texts; `what` names its values in errors, and `prefix` begins keys as people write them. */
function keyed(what: string, prefix: string, lengthMax: number) {
  const text = z
    .string("expected a text")
    .max(lengthMax, `expected at most ${lengthMax} characters`)
  return boundedMap(z.string(), text, {
    most: FILES_MAX,
    error: ({ input }) => describeNoMap(input, prefix, what),
    tooMany: `expected at most ${FILES_MAX} ${what}`,
  })
    .superRefine((map, context) => {
      for (const name of Object.keys(map)) {
        if (fileKey.safeParse(name).success) continue
        context.addIssue({ code: "custom", path: [name], message: describeKey(name) })
      }
    })
    .meta({
      additionalProperties: { type: "string", maxLength: lengthMax },
      propertyNames: { type: "string", pattern: "^[A-Za-z0-9_]{1,64}$" },
    })
}

/** The body of POST /commands. */
export const commandRequest = z
  .strictObject(
    {
      ffmpeg_command: line
        .optional()
        .meta({ description: "One command, beginning with ffmpeg; or else ffmpeg_commands." }),
      ffmpeg_commands: z
        .array(line, { error: ({ input }) => describeNoLines(input) })
        .min(1, "expected at least one command")
        .max(COMMANDS_MAX, `expected at most ${COMMANDS_MAX} commands`)
        .optional()
        .meta({ description: "Commands that run one after the other in one folder." }),
      input_files: keyed("input references", "in", IMPORT_URL_LENGTH_MAX).default({}).meta({
        description:
          "Inputs by key: svc_id://<uuid>, a File's download_url, or a public URL to bring in; none where the command makes all by -f lavfi.",
      }),
      output_files: keyed("file names", "out", NAME_LENGTH_MAX).default({}).meta({
        description:
          "Names of outputs by key; none where the commands keep no file, as `-f null -` does, and are run for what `log` says of them.",
      }),
      ...createFields,
    },
    "expected an object of fields",
  )
  .meta({ id: "CommandRequest" })

export type CommandRequest = z.infer<typeof commandRequest>

/** What of a request says what its command does. */
export type CommandPart = Pick<
  CommandRequest,
  "ffmpeg_command" | "ffmpeg_commands" | "input_files" | "output_files"
>

/** A request that needs no upload. */
export const EXAMPLE = {
  input_files: {},
  output_files: { out_1: "bars.mp4" },
  ffmpeg_command:
    "ffmpeg -f lavfi -i testsrc2=size=320x180:duration=1 -c:v libx264 -pix_fmt yuv420p {{out_1}}",
}

const SHOWN_MAX = 200

/** What to write instead of a command that is no text. */
function describeNoLine(input: unknown): string {
  if (!Array.isArray(input) || input.length === 0) return "expected a text"
  const words = input.map(String)
  if (words.every((word) => /^ffmpeg\s/.test(word))) {
    return "expected one text; several commands go into `ffmpeg_commands`"
  }
  const whole = words.map((word) => (/[\s;]/.test(word) ? `"${word}"` : word)).join(" ")
  return `expected one text and no list, as \`${cutText(whole, SHOWN_MAX)}\``
}

/** What to write instead of a list of commands that is none. */
function describeNoLines(input: unknown): string {
  if (typeof input !== "string") return "expected an array of texts"
  return `expected an array of texts, as \`[${JSON.stringify(cutText(input, SHOWN_MAX))}]\`; or give the one text as \`ffmpeg_command\``
}

const texts = z.record(z.string(), z.unknown()).catch({}).transform(onlyTexts)

/** A longer one is refused for that alone, since judging it would take its time. */
const usableLine = z.string().max(COMMAND_LENGTH_MAX)
const usableRequest = z.object({
  ffmpeg_command: usableLine.optional().catch(undefined),
  ffmpeg_commands: z.array(usableLine.catch("")).optional().catch(undefined),
  input_files: texts,
  output_files: texts,
})

/** What of a body can be used, whatever else is wrong with it. */
export function readUsable(body: object): z.output<typeof usableRequest> {
  const usable = usableRequest.parse(body)
  const commands = usable.ffmpeg_commands?.slice(0, COMMANDS_MAX)
  return {
    ...usable,
    ...(commands && { ffmpeg_commands: commands }),
    input_files: firstOf(usable.input_files),
    output_files: firstOf(usable.output_files),
  }
}

/** As much of a map as a request may have, since judging takes its time for each pair of them. */
function firstOf(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).slice(0, FILES_MAX))
}

function onlyTexts(map: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map).flatMap(([key, value]) =>
      typeof value === "string" ? [[key, value] as const] : [],
    ),
  )
}
