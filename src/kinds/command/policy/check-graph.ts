import { judgeFile, judgePlain } from "./file-names.ts"
import type { WorkspaceNames } from "./file-names.ts"
import { FILE_OPTION_NAMES, kindOfFilterOption, optionAt, reasonAgainstFilter } from "./filters.ts"
import type { FilterOptionKind } from "./filters.ts"
import { reasonAgainstInputFormat } from "./formats.ts"
import { readGraph } from "./read-graph.ts"
import type { GraphFilter } from "./read-graph.ts"
import { firstFaults, quote } from "./refusal.ts"
import type { Refusal } from "./refusal.ts"
import { judgeThreads } from "./threads.ts"
import { readDictionary, readPairs } from "./tokens.ts"

type Fault = Pick<Refusal, "code" | "message">

/** What judges the options of a demuxer that a filter opens. */
export type JudgeOption = (name: string, value: string) => Fault[]

const FILTERS_MAX = 1000

/** What a filter graph may not say; `judgeOption` judges options that a filter passes on. */
export function checkGraph(text: string, names: WorkspaceNames, judgeOption: JudgeOption): Fault[] {
  const filters = readGraph(text)
  if (filters.length > FILTERS_MAX) {
    const message = `a graph of ${filters.length} filters is too large; expected at most ${FILTERS_MAX}, so split the work into several commands`
    return [{ code: "too_complex", message }]
  }
  return firstFaults(filters, (filter) => {
    const reason = reasonAgainstFilter(filter.name)
    if (reason) {
      const message = `the filter ${filter.name} ${reason.why}; ${reason.instead}`
      return [{ code: "filter_not_allowed" as const, message }]
    }
    return optionsOf(filter).flatMap(({ name, value }) =>
      checkOption(filter.name, name, value).map(({ code, message }) => ({
        code,
        message: `the filter ${filter.name}, ${name ?? "first value"}: ${message}`,
      })),
    )
  })

  function checkOption(filter: string, name: string | null, value: string): Fault[] {
    if (name?.startsWith("/") === true) return [valueFromFile(name)]
    const kind = name === null ? null : kindOfFilterOption(filter, name)
    return judgeValue(kind, value, names, judgeOption)
  }
}

/** The options of a filter, those without a name named by their place where that is known. */
function optionsOf(filter: GraphFilter): { name: string | null; value: string }[] {
  return filter.options.map(({ name, value }, place) => ({
    name: name ?? optionAt(filter.name, place),
    value,
  }))
}

function judgeValue(
  kind: FilterOptionKind | null,
  value: string,
  names: WorkspaceNames,
  judgeOption: JudgeOption,
): Fault[] {
  switch (kind) {
    case "text":
      return []
    case "media":
      return some(judgeFile(value, "read", names))
    case "read":
    case "write":
    case "font":
    case "folder":
      return some(judgeFile(value, kind, names))
    case "format":
      return some(judgeFormat(value))
    case "threads":
      return some(judgeThreads(value))
    case "options":
      return readDictionary(value, ":").flatMap((pair) => judgeOption(pair.name ?? "", pair.value))
    case "commands":
      return judgeCommands(value, names)
    case "model":
      return value
        .split("|")
        .flatMap((model) => readPairs(model, ":"))
        .flatMap((pair) => some(judgeModel(pair.name, pair.value, names)))
    case null:
      return some(judgePlain(value, names.terms))
  }
}

function judgeFormat(format: string): Fault | null {
  const reason =
    format.toLowerCase() === "lavfi"
      ? { why: "is a graph within a graph", instead: "write its filters into this graph" }
      : reasonAgainstInputFormat(format)
  if (!reason) return null
  const message = `the format ${quote(format)} ${reason.why}; ${reason.instead}`
  return { code: "format_not_allowed", message }
}

function judgeModel(name: string | null, value: string, names: WorkspaceNames): Fault | null {
  return name === "path" ? judgeFile(value, "read", names) : judgePlain(value, names.terms)
}

const COMMANDED_FILE = new RegExp(
  String.raw`(?<![\w-])/?(?:${FILE_OPTION_NAMES.join("|")})(?:\s*=\s*|\s+)([^:,;\s]+)`,
  "g",
)

/** What commands to other filters may not say; their own escapes and quotes are taken off. */
function judgeCommands(text: string, names: WorkspaceNames): Fault[] {
  const plain = text.replace(/[\\'"]/g, "").replace(/\s+/g, " ")
  return Array.from(plain.matchAll(COMMANDED_FILE), ([, value = ""]) =>
    judgeFile(value, "read", names),
  ).filter((fault) => fault !== null)
}

function valueFromFile(name: string): Fault {
  const message = `${name} reads its value from a file; write the value into the graph`
  return { code: "filter_option_not_allowed", message }
}

function some(fault: Fault | null): Fault[] {
  return fault ? [fault] : []
}
