import { z } from "zod"
import { cutText } from "../../contract/cut-text.ts"
import { fileKeySchema } from "../../contract/task.ts"
import { boundedMapSchema } from "../bounded-map.ts"
import { commonRequestFieldSchemas, publishFieldSchemas } from "../create-fields.ts"
import { INPUT_OPENAPI_SCHEMA, lenientInputSchema } from "../private-input.ts"
import { INPUT_ADDRESS_FORMS } from "../../hints/addresses.ts"
import { inputReferenceSchema } from "../reference.ts"
import { describeFileKeyFault, describeExpectedKeyMap } from "../../hints/key-map.ts"

export const COMMAND_FILES_MAX = 64
const COMMANDS_MAX = 20
export const COMMAND_LENGTH_MAX = 64 * 1024
export const OUTPUT_NAME_LENGTH_MAX = 2048

const line = z
  .string({ error: ({ input }) => describeNoLine(input) })
  .min(1, "it is empty")
  .max(COMMAND_LENGTH_MAX, `expected at most ${COMMAND_LENGTH_MAX} characters`)

const outputName = z
  .string("expected a string")
  .max(OUTPUT_NAME_LENGTH_MAX, `expected at most ${OUTPUT_NAME_LENGTH_MAX} characters`)

/**
 * Returns the schema of an object with a value for each file key. `what` names the values in
 * errors, `prefix` is the usual beginning of keys, and `described` is the OpenAPI schema of a
 * value.
 */
function keyed<Value extends z.ZodType>(
  value: Value,
  { what, prefix, described }: { what: string; prefix: string; described: object },
) {
  return boundedMapSchema(z.string(), value, {
    most: COMMAND_FILES_MAX,
    error: ({ input }) => describeExpectedKeyMap(input, prefix, what),
    tooMany: `expected at most ${COMMAND_FILES_MAX} ${what}`,
  })
    .superRefine((map, context) => {
      for (const name of Object.keys(map)) {
        if (fileKeySchema.safeParse(name).success) continue
        context.addIssue({ code: "custom", path: [name], message: describeFileKeyFault(name) })
      }
    })
    .meta({
      additionalProperties: described,
      propertyNames: { type: "string", pattern: "^[A-Za-z0-9_]{1,64}$" },
    })
}

const inputFiles = keyed(inputReferenceSchema, {
  what: "input references",
  prefix: "in",
  described: INPUT_OPENAPI_SCHEMA,
})
const outputFiles = keyed(outputName, {
  what: "file names",
  prefix: "out",
  described: { type: "string", maxLength: OUTPUT_NAME_LENGTH_MAX },
})

/** Schema of the body of POST /commands. */
export const commandRequestSchema = z
  .strictObject(
    {
      ffmpeg_command: line
        .optional()
        .meta({ description: "Command that begins with ffmpeg, instead of `ffmpeg_commands`." }),
      ffmpeg_commands: z
        .array(line, { error: ({ input }) => describeNoLines(input) })
        .min(1, "expected at least one command")
        .max(COMMANDS_MAX, `expected at most ${COMMANDS_MAX} commands`)
        .optional()
        .meta({ description: "Commands that run one after the other in one folder." }),
      input_files: inputFiles.default({}).meta({
        description: `Inputs by key: each ${INPUT_ADDRESS_FORMS}. Commands that only use -f lavfi need none.`,
      }),
      output_files: outputFiles.default({}).meta({
        description:
          "Names of outputs by key. Commands that keep no file, such as those with `-f null -` or `-f md5 -`, need none; their messages are in `log` and `stdout`.",
      }),
      ...publishFieldSchemas,
      ...commonRequestFieldSchemas,
    },
    "expected an object of fields",
  )
  .meta({ id: "CommandRequest" })

export type CommandRequest = z.infer<typeof commandRequestSchema>

/** Fields of a command request that define the commands and their input and output files. */
export type ValidCommandFields = Pick<
  CommandRequest,
  "ffmpeg_command" | "ffmpeg_commands" | "input_files" | "output_files"
>

/** Example of a command request that needs no uploaded file. */
export const COMMAND_EXAMPLE_REQUEST = {
  input_files: {},
  output_files: { out_1: "bars.mp4" },
  ffmpeg_command:
    "ffmpeg -f lavfi -i testsrc2=size=320x180:duration=1 -c:v libx264 -pix_fmt yuv420p {{out_1}}",
}

const SHOWN_MAX = 200

/** Describes the fault of a command that is not a string, with the remedy. */
function describeNoLine(input: unknown): string {
  if (!Array.isArray(input) || input.length === 0) return "expected a string"
  const words = input.map(String)
  if (words.every((word) => /^ffmpeg\s/.test(word))) {
    return "expected one string; put several commands in `ffmpeg_commands`"
  }
  const whole = words.map((word) => (/[\s;]/.test(word) ? `"${word}"` : word)).join(" ")
  return `expected one string, not a list, as in \`${cutText(whole, SHOWN_MAX)}\``
}

/** Describes the fault of a value that is not a list of commands, with the remedy. */
function describeNoLines(input: unknown): string {
  if (typeof input !== "string") return "expected an array of strings"
  return `expected an array of strings, as in \`[${JSON.stringify(cutText(input, SHOWN_MAX))}]\`; or send the string as \`ffmpeg_command\``
}

const values = z.record(z.string(), z.unknown()).catch({})

/** Schema of a command that is short enough to be checked. */
const usableLine = z.string().max(COMMAND_LENGTH_MAX)
const usableRequest = z.object({
  ffmpeg_command: usableLine.optional().catch(undefined),
  ffmpeg_commands: z.array(usableLine.catch("")).optional().catch(undefined),
  input_files: values.transform((map) => usableOf(map, lenientInputSchema)),
  output_files: values.transform((map) => usableOf(map, z.string())),
})

/** Returns the valid fields of a command request; omits invalid fields. */
export function readValidCommandFields(body: object): z.output<typeof usableRequest> {
  const usable = usableRequest.parse(body)
  const commands = usable.ffmpeg_commands?.slice(0, COMMANDS_MAX)
  return {
    ...usable,
    ...(commands && { ffmpeg_commands: commands }),
    input_files: firstOf(usable.input_files),
    output_files: firstOf(usable.output_files),
  }
}

/**
 * Returns the first `COMMAND_FILES_MAX` entries of a map, because the check of each entry takes
 * time.
 */
function firstOf<Value>(map: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(map).slice(0, COMMAND_FILES_MAX))
}

/** Returns the entries of a map whose values match a schema. */
function usableOf<Value>(
  map: Record<string, unknown>,
  schema: z.ZodType<Value>,
): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(map).flatMap(([key, value]) => {
      const usable = schema.safeParse(value)
      return usable.success ? [[key, usable.data] as const] : []
    }),
  )
}
