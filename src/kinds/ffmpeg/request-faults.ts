import { getWorkspaceOutputNames } from "../../contract/task.ts"
import { isKeptOutput, findLastOptionValue, parseFfmpegCommand } from "../../ffmpeg/command-line.ts"
import { replaceFileKeysByNames } from "../../ffmpeg/file-keys.ts"
import type { Fault } from "../../domain/faults.ts"
import { findComplexityFault } from "../command/complexity.ts"
import type { CommandFault } from "../../domain/faults.ts"
import { draftTaskOutputs } from "../command/output-names.ts"
import { quoteShortenedValue } from "../../ffmpeg/policy/refusal.ts"
import { findScriptFaults } from "../command/script-faults.ts"
import type { ResolvedInput, ValidationContext } from "../kind.ts"
import { findWebhookConflicts } from "../webhook-fields.ts"
import { isUnambiguousFileName, parseFfmpegRequest } from "./parse-request.ts"
import type { ParsedFfmpegRequest } from "./parse-request.ts"
import type { ValidFfmpegFields } from "./request.ts"

/** Returns the faults of a request to POST /ffmpeg that its schema cannot find. */
export function findFfmpegRequestFaults(
  request: ValidFfmpegFields,
  inputs: ResolvedInput[],
  malformed: ReadonlySet<string> = new Set(),
  { ffmpeg }: Pick<ValidationContext, "ffmpeg"> = { ffmpeg: null },
): Fault[] {
  const webhooks = findWebhookConflicts(request)
  if (request.command === undefined) return webhooks
  const complexity = findComplexityFault([{ field: "command", text: request.command }])
  if (complexity) return [...webhooks, complexity]
  const parsed = parseFfmpegRequest(request)
  const faults = findScriptFaults(parsed.script, inputs, ffmpeg)
  if (malformed.has("output_filename")) {
    return [...webhooks, ...faults.filter(({ code }) => code !== "no_output")]
  }
  const all = [...withOutputFault(faults, parsed), ...judgeUnknownInputs(parsed)]
  const shownFaults = malformed.has("inputs")
    ? all.filter(({ code }) => code !== "unknown_key")
    : all
  return [...webhooks, ...(shownFaults.length > 0 ? shownFaults : judgeOtherOutputs(parsed))]
}

/** Codes of faults that already explain why the output is missing or invalid. */
const REASONS = new Set(["unknown_key", "overwrites_input", "missing_value"])
/** Codes of faults that only follow from an output that could not be determined. */
const CONSEQUENCES = new Set(["no_output", "unused_output"])

/**
 * Adds the fault of the command's output, unless another fault already explains it. If the output
 * could not be determined, removes faults that only follow from that.
 */
function withOutputFault(faults: CommandFault[], parsed: ParsedFfmpegRequest): CommandFault[] {
  const { output, outputFault, words } = parsed
  if (output && !outputFault) return faults
  const others = faults.filter(({ code }) => {
    return !CONSEQUENCES.has(code) && (output !== null || code !== "trailing_option")
  })
  if (!outputFault) return others
  const isExplained =
    outputFault.field === "command"
      ? others.length > 0
      : others.some(({ code, option }) => REASONS.has(code) || option === words.at(-2))
  return isExplained ? others : [outputFault, ...others]
}

/**
 * Returns faults of file names after -i that are not inputs of the request. Such a file cannot come
 * from an earlier command either, because the job has only one command.
 */
function judgeUnknownInputs({ script, words }: ParsedFfmpegRequest): CommandFault[] {
  const keys = new Set(script.inputKeys)
  const unknown = parseFfmpegCommand(words).files.filter((file) => {
    const { kind, word } = file
    if (kind !== "input" || findLastOptionValue(file, "f")?.toLowerCase() === "lavfi") return false
    if (/^(?:in|out)_\w+$/.test(word) || word.includes("%")) return false
    return isUnambiguousFileName(word) && !keys.has(word.replace(/\.[^.]*$/, ""))
  })
  return unknown.map(({ word }) => ({
    field: "command",
    option: "-i",
    code: "unknown_key" as const,
    message: `-i: ${quoteShortenedValue(word)} is not one of inputs; write an input by its number, as in {{in_1}}, or by its URI`,
  }))
}

/**
 * Returns the fault of a command that writes more files than its one output. The job would not
 * store the additional files.
 */
function judgeOtherOutputs({ words, output }: ParsedFfmpegRequest): CommandFault[] {
  if (output === null) return []
  const { key } = output
  const name = getWorkspaceOutputNames(draftTaskOutputs([output], [words])).get(key) ?? key
  const argv = replaceFileKeysByNames(words, new Map([[key, name]]))
  const writtenNames = parseFfmpegCommand(argv)
    .files.filter(isKeptOutput)
    .map(({ word }) => word)
  const others = writtenNames.filter((word) => word !== name)
  if (!writtenNames.includes(name)) {
    // The output's name is no word of its own in the command. It is only the value of an option,
    // from which ffmpeg derives other file names, or a part of a word.
    const derivedName = others.find((word) => word.startsWith(name) && isUnambiguousFileName(word))
    if (derivedName === undefined) return []
    const message = `the command writes ${quoteShortenedValue(derivedName)}, but its output is ${quoteShortenedValue(output.name)}: write {{out_1}} as a separate word`
    return [{ field: "command", code: "unused_output", message }]
  }
  if (writtenNames.length < 2) return []
  const message =
    others.length === 0
      ? `the command writes its one output, ${quoteShortenedValue(output.name)}, twice: name it once, at the end`
      : `the command writes ${others.map(quoteShortenedValue).join(", ")} besides its one output, ${quoteShortenedValue(output.name)}; leave it out, or use POST /commands, which has several outputs`
  return [{ field: "command", code: "too_many_outputs", message }]
}
