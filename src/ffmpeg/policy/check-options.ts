import { findGraphPolicyFaults } from "./check-graph.ts"
import { findCodecRefusalReason } from "./codecs.ts"
import { findFileNameFault, findUrlOrPathFault } from "./file-names.ts"
import type { WorkspaceFileNames } from "./file-names.ts"
import { findInputFormatRefusalReason, findOutputFormatRefusalReason } from "./formats.ts"
import {
  findOptionValueKind,
  findNestedOptionRefusalReason,
  findOptionRefusalReason,
} from "./options.ts"
import type { OptionValueKind } from "./options.ts"
import { isStdout } from "../command-line.ts"
import type { CommandFile, CommandOption } from "../command-line.ts"
import { quoteShortenedValue } from "./refusal.ts"
import type { RefusalReason, CommandRefusal } from "./refusal.ts"
import { findThreadCountFault } from "./threads.ts"
import { parseFfmpegDictionary } from "../graph-tokens.ts"
import type { OptionPair } from "../graph-tokens.ts"

/**
 * Encoder parameters that name files, such as those in `-x264-params`. The names are in lower case
 * with hyphens.
 */
const FILES = new Set(
  "stats dump-yuv cqm cqmfile cqm-file qpfile opencl-clbin clbin-file csv analysis-save analysis-load analysis-reuse-file dhdr10-info scaling-list lambda-file recon log-file nalu-file zonefile dolby-vision-rpu film-grain aom-film-grain tonemapfile multi-pass-file stat-file stats-file stats-path fgs-table roi-map-file input output film-grain-table film-grain-test-vector vmaf-model-path partition-info-path second-pass-log two-pass-input two-pass-output rate-distribution-info rcstatsfile tracefile summaryoutfilename summarypicfilenamebase qp-file scaling-list-file roi cqmfile-4x4".split(
    " ",
  ),
)

/** Matches values such as `off`, with which a file parameter of an encoder names no file. */
const WORDS_FOR_NO_FILE = /^(?:off|on|default|flat|jvt|auto|none|true|false|[\d.]+)$/i

/**
 * Parses encoder parameters twice, with and without escapes, and returns both results. Encoders
 * treat escapes differently, and the check must find a file name in either case.
 */
function readParameters(option: string, text: string): OptionPair[] {
  const separator = option.startsWith("kvazaar") ? "," : ":"
  const plain = text.split(separator).map((pair) => {
    const [name = "", ...value] = pair.split("=")
    return { name: name.trim(), value: value.join("=") }
  })
  return [...parseFfmpegDictionary(text, separator), ...plain]
}

/** Reports whether an encoder parameter names a file. */
function isFileParameter({ name, value }: OptionPair): boolean {
  const plain = (name ?? "")
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/^-*(?:no-)?/, "")
  return FILES.has(plain) && !WORDS_FOR_NO_FILE.test(value)
}

type Fault = Pick<CommandRefusal, "code" | "message">

/**
 * Context of an option: the file names in the workspace, and whether the option belongs to an input
 * or an output. `depth` counts the options within whose values the option is nested.
 */
export type OptionContext = { kind: CommandFile["kind"]; names: WorkspaceFileNames; depth?: number }

const DEPTH_MAX = 8

/** Returns the policy refusals of one option of an ffmpeg command. */
export function findOptionPolicyRefusals(
  { word, name, value }: CommandOption,
  context: OptionContext,
): CommandRefusal[] {
  const reason = findOptionRefusalReason(name)
  if (reason) return [refuse("option_not_allowed", word, word, reason)]
  if (value === null) return []
  const hidden = hiddenOption(name, value)
  if (hidden) return [hidden]
  return judgeValue(name, value, context).map(({ code, message }) => ({
    code,
    option: word,
    message: `${word}: ${message}`,
  }))
}

/** Returns the policy faults of an option that is nested in the value of another option. */
export function findNestedOptionFaults(
  name: string,
  value: string,
  context: OptionContext,
): Fault[] {
  const [plain = ""] = name.split(/[:/]/, 1)
  const depth = (context.depth ?? 0) + 1
  if (depth > DEPTH_MAX) {
    const message = `options nest more than ${DEPTH_MAX} deep; use fewer levels`
    return [{ code: "value_not_allowed", message }]
  }
  const reason = findNestedOptionRefusalReason(plain)
  if (reason) {
    return [{ code: "option_not_allowed", message: `${name} ${reason.why}; ${reason.instead}` }]
  }
  return judgeValue(plain, value, { ...context, depth }).map(({ code, message }) => ({
    code,
    message: `${name}: ${message}`,
  }))
}

/**
 * Refuses a value that looks like a refused option. In some versions of ffmpeg the outer option
 * takes no value, so that ffmpeg would read the value as an option.
 */
function hiddenOption(name: string, value: string): CommandRefusal | null {
  if (!value.startsWith("-") || findOptionValueKind(name) === "text") return null
  const reason = findOptionRefusalReason(value.slice(1).split(":", 1)[0] ?? "")
  return reason && refuse("option_not_allowed", value, value, reason)
}

function judgeValue(name: string, value: string, context: OptionContext): Fault[] {
  const kind = findOptionValueKind(name)
  switch (kind) {
    case "graph":
      return findGraphPolicyFaults(value, context.names, (innerName, innerValue) =>
        findNestedOptionFaults(innerName, innerValue, { ...context, kind: "input" }),
      )
    case "options":
      return parseFfmpegDictionary(value, ":").flatMap((pair) =>
        findNestedOptionFaults(pair.name ?? "", pair.value, context),
      )
    case "parameters":
      return readParameters(name, value)
        .flatMap((pair) =>
          isFileParameter(pair)
            ? findFileNameFault(pair.value, "write", context.names)
            : findUrlOrPathFault(pair.value, context.names.remedies),
        )
        .filter((fault) => fault !== null)
        .slice(0, 1)
    default:
      return [judgeSimple(kind, value, context)].filter((fault) => fault !== null)
  }
}

function judgeSimple(
  kind: Exclude<OptionValueKind, "graph" | "options" | "parameters"> | null,
  value: string,
  { kind: file, names }: OptionContext,
): Fault | null {
  switch (kind) {
    case "text":
      return null
    case "read":
    case "write":
      return findFileNameFault(value, kind, names)
    case "graph-file":
    case "key-info":
      return judgeInput(value, names)
    case "print":
      return judgePrint(value)
    case "threads":
      return findThreadCountFault(value)
    case "format":
      return judgeBy("format_not_allowed", value, reasonAgainstFormat(value, file))
    case "codec":
      return judgeBy("codec_not_allowed", value, findCodecRefusalReason(value))
    case "acceleration":
      return judgeBy("value_not_allowed", value, reasonAgainstAcceleration(value))
    case "variants":
      return judgeVariants(value, names)
    case null:
      return findUrlOrPathFault(value, names.remedies)
  }
}

/**
 * Returns the fault of a file name that must be an input, since the runner reads the file before
 * the command runs; null if there is none.
 */
function judgeInput(value: string, names: WorkspaceFileNames): Fault | null {
  // Ignores undeclared keys, because `findFileKeyFaults` reports them.
  const isKey = /^(?:in|out)_\w+$/.test(value) && !names.outputs.has(value)
  if (names.inputs.has(value) || isKey) return null
  const fault = findFileNameFault(value, "read", names)
  const message = `${quoteShortenedValue(value)}: expected an input, since the file is read before the command; ${names.remedies.giveFile}`
  return fault ?? { code: "name_not_allowed", message }
}

/**
 * Returns the fault of the value of an option, such as `-progress`, that may write only to standard
 * output; null if the value means standard output.
 */
function judgePrint(value: string): Fault | null {
  if (isStdout(value)) return null
  const instead =
    "write - for standard output, or leave it out: GET /v1/jobs/{id}/events reports the progress"
  return { code: "value_not_allowed", message: `${quoteShortenedValue(value)}: ${instead}` }
}

/** Returns the reason to refuse a format of an input or output; null if the format is allowed. */
function reasonAgainstFormat(format: string, file: CommandFile["kind"]): RefusalReason | null {
  return file === "input"
    ? findInputFormatRefusalReason(format)
    : findOutputFormatRefusalReason(format)
}

function reasonAgainstAcceleration(value: string): RefusalReason | null {
  if (value === "auto" || value === "none") return null
  return { why: "needs a device, and a command has none", instead: "leave -hwaccel out" }
}

/**
 * Returns the fault of the names of HLS variants, which ffmpeg inserts for %v into file names; null
 * if there is none.
 */
function judgeVariants(value: string, { remedies }: WorkspaceFileNames): Fault | null {
  const odd = value.split(/[\s,]+/).find((part) => /[/\\]|\.\./.test(part))
  return odd === undefined ? null : findUrlOrPathFault(`/${odd}`, remedies)
}

function judgeBy(
  code: CommandRefusal["code"],
  value: string,
  reason: RefusalReason | null,
): Fault | null {
  return (
    reason && { code, message: `${quoteShortenedValue(value)} ${reason.why}; ${reason.instead}` }
  )
}

function refuse(
  code: CommandRefusal["code"],
  option: string,
  what: string,
  reason: RefusalReason,
): CommandRefusal {
  return { code, option, message: `${what} ${reason.why}; ${reason.instead}` }
}
