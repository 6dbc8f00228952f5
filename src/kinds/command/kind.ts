import { z } from "zod"
import { getWorkspaceOutputNames } from "../../contract/task.ts"
import { commandTaskDefinition } from "../../contract/tasks/command.ts"
import { replaceFileKeysByNames } from "../../ffmpeg/file-keys.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import { defineJsonKind } from "../kind.ts"
import { getInputUrl } from "../private-input.ts"
import type { ResolvedInput, DraftContext, ValidationContext } from "../kind.ts"
import { findCommandFaults, splitCommandsIntoWords } from "./request-faults.ts"
import { draftTaskOutputs } from "./output-names.ts"
import { draftCommandJob } from "./plan.ts"
import { commandRecordSchema, buildCommandRecord } from "./record.ts"
import { commandRequestSchema, COMMAND_EXAMPLE_REQUEST, readValidCommandFields } from "./request.ts"
import type { ValidCommandFields, CommandRequest } from "./request.ts"
import { computeWorkspaceInputNames } from "./script-faults.ts"
import { findUnusedInputWarnings } from "./unused-inputs.ts"
import { warningRecordSchema } from "../shared-record-fields.ts"
import { computeOutputColumnsAndResult } from "../outputs.ts"

/**
 * Schema of the two lists of checks in the response to a validation request: checks that were made,
 * and checks that only the run of the command makes.
 */
const commandChecks = z
  .object({ judged: z.array(z.string()), left_to_run: z.array(z.string()) })
  .meta({
    description:
      "Checks made before the run (`judged`), and checks that only ffmpeg makes as it runs the command.",
  })

const BY_POLICY = "forbidden files, options, filters and formats"
const BY_CAPABILITIES = [
  "names of options, filters and their options, encoders, decoders, formats and presets",
  "encoders that the output format cannot hold, and odd sizes that are written in numbers",
  "labels that no filter makes, and endless inputs without a limit",
]
const BY_RUN = [
  "values of options and filters, and expressions in them",
  "whether filters accept each other's output and the streams of the inputs",
  "the default streams of an output, and whether its format can hold copied streams",
  "whether the output of filters ends",
]

/**
 * Lists the checks that are made before a command runs, and the checks that only the run makes. The
 * capabilities of ffmpeg and the probes of inputs allow more checks before the run.
 */
function describeChecks(
  inputs: readonly ResolvedInput[],
  { ffmpeg }: Pick<ValidationContext, "ffmpeg">,
): z.infer<typeof commandChecks> {
  const unknown = inputs.filter(({ file }) => !file?.probe).map(({ key }) => key)
  const isProbed = inputs.length > 0 && unknown.length === 0
  const names = unknown.join(", ")
  return {
    judged: [
      BY_POLICY,
      ...(ffmpeg ? BY_CAPABILITIES : []),
      ...(ffmpeg && isProbed ? ["streams that maps and labels select"] : []),
    ],
    left_to_run: [
      ...(ffmpeg ? [] : BY_CAPABILITIES),
      ...(unknown.length > 0 ? [`streams and lengths of inputs without a probe: ${names}`] : []),
      ...BY_RUN,
    ],
  }
}

/** Kind of job that runs one or several ffmpeg commands, in order and on the same files. */
export const commandKind = defineJsonKind({
  name: "command",
  path: "commands",
  title: "command",
  idField: "command_id",
  tasks: [commandTaskDefinition],
  request: commandRequestSchema,
  showsRequest: true,
  example: COMMAND_EXAMPLE_REQUEST,
  readUsableFields: readValidCommandFields,
  references: ({ input_files }) =>
    Object.entries(input_files).map(([key, reference]) => {
      return { key, field: `input_files.${key}`, reference }
    }),
  inputField: (key) => `input_files.${key}`,
  judge: findCommandFaults,
  preview: {
    schema: z.object({
      commands: z.array(z.array(z.string())),
      checks: commandChecks,
      warnings: z.array(warningRecordSchema),
    }),
    show(request, inputs, facts) {
      const commands = splitCommandsIntoWords(request)
      return {
        commands: nameFiles(commands, request, inputs),
        checks: describeChecks(inputs, facts),
        warnings: findUnusedInputWarnings(commands, inputs),
      }
    },
  },
  plan: planCommand,
  finish: computeOutputColumnsAndResult,
  record: commandRecordSchema,
  view: (base, { job }, progress) => buildCommandRecord(base, job, progress),
})

function planCommand(request: CommandRequest, facts: DraftContext): JobDraft {
  const commands = splitCommandsIntoWords(request)
  const outputs = draftTaskOutputs(namedOutputs(request), commands)
  const input_files = Object.fromEntries(
    Object.entries(request.input_files).map(([key, input]) => [key, getInputUrl(input)]),
  )
  const kept = { ...request, input_files }
  return draftCommandJob(facts, { kind: "command", request: kept, commands, outputs })
}

/**
 * Returns the words of each command, with the program's name, and with file names instead of keys.
 * A command that cannot be split into words gives an empty list.
 */
function nameFiles(
  commands: string[][],
  request: ValidCommandFields,
  inputs: ResolvedInput[],
): string[][] {
  const names = new Map([
    ...computeWorkspaceInputNames(Object.keys(request.input_files), inputs),
    ...getWorkspaceOutputNames(draftTaskOutputs(namedOutputs(request), commands)),
  ])
  return commands.map((words) => {
    return words.length > 0 ? ["ffmpeg", ...replaceFileKeysByNames(words, names)] : []
  })
}

function namedOutputs({ output_files }: ValidCommandFields): { key: string; name: string }[] {
  return Object.entries(output_files).map(([key, name]) => ({ key, name }))
}
