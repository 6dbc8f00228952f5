import { isWritten, lastValue, readCommand } from "../../contract/command-line.ts"
import { substitute } from "../../contract/tasks/command.ts"
import type { Fault } from "../../faults.ts"
import { findComplexity } from "../command/complexity.ts"
import type { CommandFault } from "../command/fault-codes.ts"
import { checkOutputName } from "../command/output-names.ts"
import { quote } from "../command/policy/refusal.ts"
import { judgeScript } from "../command/judge-script.ts"
import type { FoundInput, JudgeFacts } from "../kind.ts"
import { judgeWebhooks } from "../webhook-fields.ts"
import { readRequest } from "./read-request.ts"
import type { ReadFfmpeg } from "./read-request.ts"
import type { UsableFfmpeg } from "./request.ts"

/** Everything wrong with what a request does. */
export function judgeFfmpeg(
  request: UsableFfmpeg,
  inputs: FoundInput[],
  malformed: ReadonlySet<string> = new Set(),
  { ffmpeg }: Pick<JudgeFacts, "ffmpeg"> = { ffmpeg: null },
): Fault[] {
  const webhooks = judgeWebhooks(request)
  if (request.command === undefined) return webhooks
  const complexity = findComplexity([{ field: "command", text: request.command }])
  if (complexity) return [...webhooks, complexity]
  const read = readRequest(request)
  const faults = judgeScript(read.script, inputs, ffmpeg)
  if (malformed.has("output_filename")) {
    return [...webhooks, ...faults.filter(({ code }) => code !== "no_output")]
  }
  const all = [...withOutputFault(faults, read), ...judgeUnknownInputs(read)]
  const told = malformed.has("inputs") ? all.filter(({ code }) => code !== "unknown_key") : all
  return [...webhooks, ...(told.length > 0 ? told : judgeOtherOutputs(read))]
}

/** Faults that say by themselves why there is no output. */
const REASONS = new Set(["unknown_key", "overwrites_input", "missing_value"])
/** Faults that follow from an output that cannot be known. */
const CONSEQUENCES = new Set(["no_output", "unused_output"])

/** Faults with the one of the output, which says it better than the policy, and only where it must. */
function withOutputFault(faults: CommandFault[], read: ReadFfmpeg): CommandFault[] {
  const { output, outputFault, words } = read
  if (output && !outputFault) return faults
  const others = faults.filter(({ code }) => {
    return !CONSEQUENCES.has(code) && (output !== null || code !== "trailing_option")
  })
  if (!outputFault) return others
  const isSaid =
    outputFault.field === "command"
      ? others.length > 0
      : others.some(({ code, option }) => REASONS.has(code) || option === words.at(-2))
  return isSaid ? others : [outputFault, ...others]
}

/** Plain names behind -i that no input has: one command reads nothing that another made. */
function judgeUnknownInputs({ script, words }: ReadFfmpeg): CommandFault[] {
  const keys = new Set(script.inputKeys)
  const unknown = readCommand(words).files.filter((file) => {
    const { kind, word } = file
    if (kind !== "input" || lastValue(file, "f")?.toLowerCase() === "lavfi") return false
    if (/^(?:in|out)_\w+$/.test(word) || word.includes("%")) return false
    return isName(word) && !keys.has(word.replace(/\.[^.]*$/, ""))
  })
  return unknown.map(({ word }) => ({
    field: "command",
    option: "-i",
    code: "unknown_key" as const,
    message: `-i: ${quote(word)} is none of inputs; name one by its place, as {{in_1}}, or by its URI`,
  }))
}

/** Outputs beside the one that is kept: what they are for would be lost. */
function judgeOtherOutputs({ words, output }: ReadFfmpeg): CommandFault[] {
  if (output === null) return []
  const named = substitute(words, new Map([[output.key, output.name]]))
  const written = readCommand(named)
    .files.filter(isWritten)
    .map(({ word }) => word)
  const others = written.filter((word) => word !== output.name)
  if (!written.includes(output.name)) {
    // It is the value of an option, and what is written is of it; unless it stands within a word.
    const altered = others.find((word) => word.startsWith(output.name) && isName(word))
    if (altered === undefined) return []
    const message = `the command writes ${quote(altered)}, and its output is ${quote(output.name)}: write {{out_1}} as a word of its own`
    return [{ field: "command", code: "unused_output", message }]
  }
  if (written.length < 2) return []
  const message =
    others.length === 0
      ? `the command writes its one output, ${quote(output.name)}, twice: name it once, at the end`
      : `the command writes ${others.map(quote).join(", ")} beside its one output, ${quote(output.name)}; leave it out, or use POST /commands, which has several outputs`
  return [{ field: "command", code: "too_many_outputs", message }]
}

function isName(word: string): boolean {
  return checkOutputName(word) === null
}
