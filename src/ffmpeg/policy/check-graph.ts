import { findFileNameFault, findUrlOrPathFault } from "./file-names.ts"
import type { WorkspaceFileNames } from "./file-names.ts"
import {
  FILTER_FILE_OPTION_NAMES,
  findFilterOptionValueKind,
  findFilterRefusalReason,
} from "./filters.ts"
import type { FilterOptionValueKind } from "./filters.ts"
import { findInputFormatRefusalReason } from "./formats.ts"
import { collectFaults, quoteShortenedValue } from "./refusal.ts"
import type { CommandRefusal } from "./refusal.ts"
import { findThreadCountFault } from "./threads.ts"
import { parseFfmpegDictionary, parseOptionPairs } from "../graph-tokens.ts"
import { resolveOptionNames, parseGraphFilters } from "../graph-filters.ts"

type Fault = Pick<CommandRefusal, "code" | "message">

/** Function that returns the faults of a demuxer option in a filter such as `movie`. */
export type DemuxerOptionCheck = (name: string, value: string) => Fault[]

const FILTERS_MAX = 1000

/**
 * Returns the policy faults of a filter graph. `judgeOption` checks the options that a filter, such
 * as `movie`, passes to a demuxer.
 */
export function findGraphPolicyFaults(
  text: string,
  names: WorkspaceFileNames,
  judgeOption: DemuxerOptionCheck,
): Fault[] {
  const filters = parseGraphFilters(text)
  if (filters.length > FILTERS_MAX) {
    const message = `a graph of ${filters.length} filters is too large; expected at most ${FILTERS_MAX}, so split the work into several commands`
    return [{ code: "too_complex", message }]
  }
  return collectFaults(filters, (filter) => {
    const reason = findFilterRefusalReason(filter.name)
    if (reason) {
      const message = `the filter ${filter.name} ${reason.why}; ${reason.instead}`
      return [{ code: "filter_not_allowed" as const, message }]
    }
    return resolveOptionNames(filter).flatMap(({ name, value }) =>
      checkOption(filter.name, name, value).map(({ code, message }) => ({
        code,
        message: `the filter ${filter.name}, ${name ?? "first value"}: ${message}`,
      })),
    )
  })

  function checkOption(filter: string, name: string | null, value: string): Fault[] {
    if (name?.startsWith("/") === true) return [valueFromFile(name)]
    const kind = name === null ? null : findFilterOptionValueKind(filter, name)
    return judgeValue(kind, value, names, judgeOption)
  }
}

function judgeValue(
  kind: FilterOptionValueKind | null,
  value: string,
  names: WorkspaceFileNames,
  judgeOption: DemuxerOptionCheck,
): Fault[] {
  switch (kind) {
    case "text":
      return []
    case "media":
      return listOf(findFileNameFault(value, "read", names))
    case "read":
    case "write":
    case "font":
    case "folder":
      return listOf(findFileNameFault(value, kind, names))
    case "print":
      return listOf(judgePrint(value, names))
    case "format":
      return listOf(judgeFormat(value))
    case "threads":
      return listOf(findThreadCountFault(value))
    case "options":
      return parseFfmpegDictionary(value, ":").flatMap((pair) =>
        judgeOption(pair.name ?? "", pair.value),
      )
    case "commands":
      return judgeCommands(value, names)
    case "model":
      return value
        .split("|")
        .flatMap((model) => parseOptionPairs(model, ":"))
        .flatMap((pair) => listOf(judgeModel(pair.name, pair.value, names)))
    case null:
      return listOf(findUrlOrPathFault(value, names.remedies))
  }
}

/**
 * Returns the fault of a file name to which a filter writes; null if there is none. The name `-`
 * means standard output and is allowed.
 */
function judgePrint(value: string, names: WorkspaceFileNames): Fault | null {
  if (value === "-") return null
  if (!/^(?:pipe|fd):/.test(value)) return findFileNameFault(value, "write", names)
  const message = `${quoteShortenedValue(value)}: write - for standard output, or ${names.remedies.nameOutput}`
  return { code: "stdio_not_allowed", message }
}

function judgeFormat(format: string): Fault | null {
  const reason =
    format.toLowerCase() === "lavfi"
      ? { why: "is a graph within a graph", instead: "write its filters into this graph" }
      : findInputFormatRefusalReason(format)
  if (!reason) return null
  const message = `the format ${quoteShortenedValue(format)} ${reason.why}; ${reason.instead}`
  return { code: "format_not_allowed", message }
}

function judgeModel(name: string | null, value: string, names: WorkspaceFileNames): Fault | null {
  return name === "path"
    ? findFileNameFault(value, "read", names)
    : findUrlOrPathFault(value, names.remedies)
}

const COMMANDED_FILE = new RegExp(
  String.raw`(?<![\w-])/?(?:${FILTER_FILE_OPTION_NAMES.join("|")})(?:\s*=\s*|\s+)([^:,;\s]+)`,
  "g",
)

/**
 * Returns the faults of file names in commands that the filter `sendcmd` sends to other filters.
 * Removes escapes and quotes before the check.
 */
function judgeCommands(text: string, names: WorkspaceFileNames): Fault[] {
  const plain = text.replace(/[\\'"]/g, "").replace(/\s+/g, " ")
  return Array.from(plain.matchAll(COMMANDED_FILE), ([, value = ""]) =>
    findFileNameFault(value, "read", names),
  ).filter((fault) => fault !== null)
}

function valueFromFile(name: string): Fault {
  const message = `${name} reads its value from a file; write the value into the graph`
  return { code: "filter_option_not_allowed", message }
}

function listOf(fault: Fault | null): Fault[] {
  return fault ? [fault] : []
}
