import { findGraphPolicyFaults } from "./check-graph.ts"
import { findOptionPolicyRefusals, findNestedOptionFaults } from "./check-options.ts"
import type { OptionContext } from "./check-options.ts"
import { findFileNameFault } from "./file-names.ts"
import type { WorkspaceFileNames } from "./file-names.ts"
import { isGlobalOption } from "./options.ts"
import { isStdout, PRINTING_FLAGS, parseFfmpegCommand } from "../command-line.ts"
import type { ParsedCommand, CommandFile } from "../command-line.ts"
import { quoteShortenedValue, COMMAND_REFUSALS_MAX } from "./refusal.ts"
import type { CommandRefusal } from "./refusal.ts"
import type { RemedyPhrases } from "./remedies.ts"
import { parseOptionPairs, readGraphToken } from "../graph-tokens.ts"

const PRINTING = new Set(PRINTING_FLAGS.split(" "))
const INPUTS_MAX = 64
const OUTPUTS_MAX = 64

/**
 * Returns the policy refusals of an ffmpeg command, in the order of its words. `words` exclude the
 * program's name and contain file names instead of keys. The sandbox enforces the same rules; this
 * check reports violations before the run.
 */
export function findPolicyRefusals(
  words: readonly string[],
  names: WorkspaceFileNames,
): CommandRefusal[] {
  const command = parseFfmpegCommand(words)
  return [
    ...command.files.flatMap((file) => checkFile(file, names)),
    ...command.trailing.flatMap((option) =>
      findOptionPolicyRefusals(option, { kind: "output", names }),
    ),
    ...checkShape(command, names),
  ].slice(0, COMMAND_REFUSALS_MAX)
}

function checkFile(file: CommandFile, names: WorkspaceFileNames): CommandRefusal[] {
  const context: OptionContext = { kind: file.kind, names }
  const options = file.options.flatMap((option) => findOptionPolicyRefusals(option, context))
  if (file.kind === "decoder") return options
  const word = file.kind === "input" ? checkInput(file, context) : checkOutput(file, context)
  return [...options, ...word]
}

function checkInput({ word, options }: CommandFile, context: OptionContext): CommandRefusal[] {
  const format = formatOf(options)
  const faults =
    format === "lavfi"
      ? findGraphPolicyFaults(word, context.names, (name, value) =>
          findNestedOptionFaults(name, value, context),
        )
      : partsOfInput(word)
          .map((name) => findFileNameFault(name, "input", context.names))
          .filter((fault) => fault !== null)
  return faults.map(({ code, message }) => ({ code, option: "-i", message: `-i: ${message}` }))
}

/** Returns the file names in the word after `-i`: the parts of `concat:a|b`, or the whole word. */
function partsOfInput(word: string): string[] {
  const joined = /^concat:(.+)$/s.exec(word)?.[1]
  return joined === undefined ? [word] : joined.split("|")
}

function checkOutput({ word, options }: CommandFile, context: OptionContext): CommandRefusal[] {
  const format = formatOf(options)
  if (word === "ffmpeg" && !context.names.outputs.has(word))
    return [secondCommand(context.names.remedies)]
  if (word === "/dev/null" || (format === "null" && /^(?:-|pipe:\d*|NUL)$/.test(word))) return []
  if (format === "tee") return checkTee(word, context)
  const keyFault = judgeHlsKey(options)
  if (keyFault) return [{ ...keyFault, option: "-hls_enc" }]
  const fault = judgeOutput(word, options, context)
  return fault ? [{ code: fault.code, message: `output ${fault.message}` }] : []
}

/** Matches muxers that write several files, whose names are derived from the output's name. */
const SEVERAL_FILES =
  /^(?:dash|hds|hls|segment|smoothstreaming|ssegment|stream_segment|webm_chunk)$/

/**
 * Returns the fault of an output file name; null if there is none. Only muxers that write a single
 * file may write to standard output.
 */
function judgeOutput(word: string, options: FormatOptions, { names }: OptionContext): Fault | null {
  if (!isStdout(word)) return findFileNameFault(word, "output", names)
  const formats = options.filter(({ name }) => name === "f" || name === "fifo_format")
  if (formats.length === 0) {
    const message = `${quoteShortenedValue(word)}: standard output has no extension that tells its format; write -f and a format before it, as -f md5`
    return { code: "missing_value", message }
  }
  const format = formats.find(({ value }) => SEVERAL_FILES.test(value?.toLowerCase() ?? ""))?.value
  if (format === undefined) return null
  const message = `${quoteShortenedValue(word)}: -f ${format} writes several files, and standard output is one; ${names.remedies.nameOutput}`
  return { code: "stdio_not_allowed", message }
}

/**
 * Refuses encrypted HLS without a key from the caller, since ffmpeg would generate a key that the
 * caller never receives.
 */
function judgeHlsKey(options: FormatOptions): Fault | null {
  const value = options.findLast(({ name }) => name === "hls_enc")?.value ?? "0"
  const isGiven = options.some(({ name }) => name === "hls_enc_key" || name === "hls_key_info_file")
  if (isGiven || /^(?:0|false|no?|off|disabled?)$/i.test(value)) return null
  const message =
    "-hls_enc: ffmpeg would make a key, which is not kept; give a key of yours with -hls_key_info_file and an input, or with -hls_enc_key"
  return { code: "value_not_allowed", message }
}

type Fault = Pick<CommandRefusal, "code" | "message">
type FormatOptions = readonly { name: string | null; value: string | null }[]

function secondCommand({ giveSeveral }: RemedyPhrases): CommandRefusal {
  const message = `a second command begins here; ${giveSeveral}`
  return { code: "name_not_allowed", message }
}

/** Returns the refusals of the outputs of the tee muxer, such as `[f=mp4]a.mp4|b.mkv`. */
function checkTee(word: string, context: OptionContext): CommandRefusal[] {
  const refusals: CommandRefusal[] = []
  for (let at = 0; at < word.length; at += 1) {
    const slave = readGraphToken(word, at, "|")
    refusals.push(...checkTeeOutput(slave.token, context))
    at = slave.at
  }
  return refusals
}

function checkTeeOutput(slave: string, context: OptionContext): CommandRefusal[] {
  const close = slave.startsWith("[") ? endOfTeeOptions(slave) : 0
  const pairs = parseOptionPairs(slave.slice(1, Math.max(1, close - 1)), ":")
  const faults = pairs.flatMap(({ name, value }) =>
    findNestedOptionFaults(name ?? "", value, context),
  )
  const isNull = pairs.findLast(({ name }) => name === "f")?.value.toLowerCase() === "null"
  const name = slave.slice(close)
  // Refuses `-` as an output, since the tee muxer treats `-` as a file name.
  const fault =
    name === "-"
      ? findFileNameFault(name, "write", context.names)
      : judgeOutput(name, pairs, context)
  const isKept = !isNull && name !== "/dev/null"
  const keyFault = judgeHlsKey(pairs)
  const own = [...(keyFault ? [keyFault] : []), ...(isKept && fault ? [fault] : [])]
  return [...faults, ...own].map(({ code, message }) => ({
    code,
    message: `tee output ${message}`,
  }))
}

/** Returns the index after the bracket that closes the options of a tee output. */
function endOfTeeOptions(slave: string): number {
  let { at } = readGraphToken(slave, 1, ":]")
  while (slave.charAt(at) === ":") ({ at } = readGraphToken(slave, at + 1, ":]"))
  return at + 1
}

/**
 * Returns the value of the last `-f` option in lower case; null if there is none. ffmpeg ignores
 * earlier `-f` options.
 */
function formatOf(options: CommandFile["options"]): string | null {
  return options.findLast(({ name }) => name === "f")?.value?.toLowerCase() ?? null
}

function checkShape(
  { files, trailing, incompleteOption }: ParsedCommand,
  names: WorkspaceFileNames,
): CommandRefusal[] {
  const inputs = files.filter(({ kind }) => kind === "input").length
  const outputs = files.filter(({ kind }) => kind === "output").length
  const refusals: CommandRefusal[] = trailing
    .filter(({ name }) => !isGlobalOption(name) && !PRINTING.has(name))
    .map(({ word, value }) => ({
      code: "trailing_option",
      option: word,
      message:
        value !== null && names.outputs.has(value)
          ? `${word} takes the output "${value}" as its value; give ${word} its own value, or leave it out`
          : `${word} follows the last output and has no effect; move it before its output`,
    }))
  if (incompleteOption !== null) {
    const message = `${incompleteOption} has no value; write one after it`
    refusals.push({ code: "missing_value", option: incompleteOption, message })
  }
  const prints = trailing.some(({ name }) => PRINTING.has(name))
  if (outputs === 0 && !prints) {
    const message = `the command has no output; ${names.remedies.endWithOutput}`
    refusals.push({ code: "no_output", message })
  }
  if (inputs > INPUTS_MAX) {
    const message = `the command has ${inputs} inputs; expected at most ${INPUTS_MAX}`
    refusals.push({ code: "too_many_inputs", option: "-i", message })
  }
  if (outputs > OUTPUTS_MAX) {
    const message = `the command has ${outputs} outputs; expected at most ${OUTPUTS_MAX}`
    refusals.push({ code: "too_many_outputs", message })
  }
  return refusals
}
