import { findLastOptionValue } from "../../../ffmpeg/command-line.ts"
import type { ParsedCommand, CommandFile, CommandOption } from "../../../ffmpeg/command-line.ts"
import { makeDidYouMeanClause } from "../../../hints/nearest-name.ts"
import {
  findFilterOptionValueKind,
  findFilterRefusalReason,
} from "../../../ffmpeg/policy/filters.ts"
import {
  collectFaults,
  quoteShortenedValue,
  COMMAND_REFUSALS_MAX,
} from "../../../ffmpeg/policy/refusal.ts"
import type { CommandRefusal } from "../../../ffmpeg/policy/refusal.ts"
import { findOptionStreamType } from "./codecs.ts"
import { parseFilterChains } from "../../../ffmpeg/filter-chains.ts"
import type { ChainFilter, FilterChainsResult } from "../../../ffmpeg/filter-chains.ts"
import { findOption } from "./capabilities.ts"
import type { FfmpegCapabilities, FfmpegComponent } from "./capabilities.ts"
import { describeWrongOptionValue } from "./value-names.ts"
import { findGenericOption } from "./known-options.ts"
import { suggestComponentName, suggestFilterOption } from "./name-suggestions.ts"

/** Parsed filter graph of a command, and the command's option that holds the graph. */
export type ParsedGraph = {
  option: string
  isComplex: boolean
  isAudio: boolean
  read: FilterChainsResult
}

/** Parses all filter graphs in the options of a command. */
export function parseGraphs({ files, trailing }: ParsedCommand): ParsedGraph[] {
  return [
    ...files.flatMap((file) => [
      ...file.options.flatMap(parseOptionGraph),
      ...parseInputGraph(file),
    ]),
    ...trailing.flatMap(parseOptionGraph),
  ]
}

function parseOptionGraph(option: CommandOption): ParsedGraph[] {
  const { word, name, value } = option
  const isComplex = name === "filter_complex" || name === "lavfi"
  if (value === null || !(isComplex || /^(?:vf|af|filter)$/.test(name))) return []
  const isAudio = name === "af" || (name === "filter" && findOptionStreamType(option) === "A")
  return [{ option: word, isComplex, isAudio, read: parseFilterChains(value) }]
}

function parseInputGraph(file: CommandFile): ParsedGraph[] {
  if (file.kind !== "input" || findLastOptionValue(file, "f")?.toLowerCase() !== "lavfi") return []
  return [{ option: "-i", isComplex: false, isAudio: false, read: parseFilterChains(file.word) }]
}

/**
 * Returns refusals of unknown filters, of unknown filter options, and of -map options whose label
 * no filter graph defines.
 */
export function findGraphRefusals(
  command: ParsedCommand,
  graphs: readonly ParsedGraph[],
  capabilities: FfmpegCapabilities,
): CommandRefusal[] {
  const refusals = graphs.flatMap((graph) =>
    checkGraph(graph, capabilities).map((message) => ({
      code: "filter_error" as const,
      option: graph.option,
      message: `${graph.option}: ${message}`,
    })),
  )
  return refusals.length > 0 ? refusals : checkLabels(command, graphs)
}

function checkGraph({ read, isAudio }: ParsedGraph, capabilities: FfmpegCapabilities): string[] {
  if ("error" in read) return [read.error]
  if (read.chains.length === 0)
    return ["the graph is empty; write a filter, or leave the option out"]
  const faults = collectFaults(read.chains.flat(), (filter) => {
    if (findFilterRefusalReason(filter.name)) return []
    const entry = capabilities.find("filters", filter.name)
    if (!entry) return [describeUnknown(filter.name, capabilities, isAudio)]
    return checkOptions(filter, entry, capabilities).map(
      (each) => `the filter ${filter.name}: ${each}`,
    )
  })
  return [...new Set(faults)]
}

function describeUnknown(name: string, capabilities: FfmpegCapabilities, isAudio: boolean): string {
  const near = suggestComponentName(
    isAudio ? "soundFilters" : "filters",
    name,
    capabilities.names("filters"),
  )
  const escaped = /^\w+$/.test(name) ? "" : "; escape , and ; within values as \\, and \\;"
  return `ffmpeg has no filter ${quoteShortenedValue(name)}${near === "" ? escaped : near}`
}

function checkOptions(
  filter: ChainFilter,
  entry: FfmpegComponent,
  capabilities: FfmpegCapabilities,
): string[] {
  const generic = capabilities.find("generic", "filter")?.options ?? []
  let last: string | null = null
  return collectFaults(filter.options.entries(), ([place, { name, value }]) => {
    if (name === null && last !== null) return [describeNameless(filter, last, value)]
    last = name
    if (name?.startsWith("/") === true) return []
    const option =
      name === null
        ? entry.options[place]
        : (findOption(entry.options, name) ?? findOption(generic, name))
    if (!option) return [describeOption(filter, name ?? value, entry, name === null)]
    if (filter.name === "scale" && option.names.includes("flags")) {
      // Checks the flags of the scale filter, because ffmpeg 5 crashes on unknown flags.
      const flags = findGenericOption(["sws"], "sws_flags", capabilities)
      const expected = flags && describeWrongOptionValue([flags], value, capabilities)
      return expected ? [`flags=${quoteShortenedValue(value)}: ${expected}`] : []
    }
    const isText = findFilterOptionValueKind(filter.name, name ?? option.names[0] ?? "") !== null
    const expected =
      isText || /[\\'"]/.test(value)
        ? null
        : describeWrongOptionValue([option], value, capabilities)
    return expected === null
      ? []
      : [`${name ?? option.names[0]}=${quoteShortenedValue(value)}: ${expected}`]
  })
}

function describeOption(
  { name: filter }: ChainFilter,
  word: string,
  { options }: FfmpegComponent,
  isNameless: boolean,
): string {
  const names = options.flatMap((option) => option.names)
  if (names.length === 0) {
    return `it takes no options; write ${filter} without ${quoteShortenedValue(word)}`
  }
  if (isNameless) {
    return `it takes at most ${options.length} values, and ${quoteShortenedValue(word)} is one too many; leave it out`
  }
  const usual = suggestFilterOption(filter, word)
  const near = usual === null ? makeDidYouMeanClause(word, names) : `; write \`${usual}\``
  const choices = `; it has ${names.slice(0, 8).join(", ")}${names.length > 8 ? " and others" : ""}`
  return `it has no option ${quoteShortenedValue(word)}${near === "" ? choices : near}`
}

/**
 * Describes a filter value without an option name that follows a named value, as in
 * `scale=w=640:480`. ffmpeg rejects this order.
 */
function describeNameless({ name: filter }: ChainFilter, last: string, value: string): string {
  const isText = findFilterOptionValueKind(filter, last) !== null || /^[xy]$/.test(last)
  if (isText) {
    return `${quoteShortenedValue(value)} follows a colon of ${last} and has no name; write a colon within a value as \\:, and within a graph as \\\\: or '…\\:…', as in text='10\\:30'`
  }
  return `${quoteShortenedValue(value)} has no name, but follows the named option ${last}; name it too, or write \\: if the colon is a part of the value`
}

/** Returns refusals of -map options whose label no filter graph defines. */
function checkLabels({ files }: ParsedCommand, graphs: readonly ParsedGraph[]): CommandRefusal[] {
  const options = files.flatMap((file) => file.options)
  if (options.some(({ name }) => /^(?:\/.+|filter_complex_script)$/.test(name))) return []
  const labels = new Set(
    graphs.flatMap(({ isComplex, read }) =>
      isComplex && "chains" in read ? read.chains.flat().flatMap(({ outputs }) => outputs) : [],
    ),
  )
  const mapped = options.flatMap(({ name, value }) =>
    name === "map" ? (/^\[([^\]]+)\]$/.exec(value ?? "")?.[1] ?? []) : [],
  )
  const undefinedLabels = mapped
    .filter((label) => !labels.has(label))
    .slice(0, COMMAND_REFUSALS_MAX)
  return undefinedLabels.map((label) => ({
    code: "stream_not_found",
    option: "-map",
    message: `-map: ${describeUndefined(label, [...labels], options)}`,
  }))
}

function describeUndefined(
  label: string,
  labels: readonly string[],
  options: readonly CommandOption[],
): string {
  const simple = options.find(({ name, value }) => {
    return /^(?:vf|af|filter)$/.test(name) && value?.includes(`[${label}]`)
  })
  if (simple) {
    const input = simple.name === "af" ? "[0:a]" : "[0:v]"
    return `[${label}] is in ${simple.word}, whose filters take one stream and have no labels to map; write the filters as -filter_complex "${input}…[${label}]"`
  }
  const choices =
    labels.length === 0
      ? "; add this label to the output of a filter"
      : `; the filters make ${labels.map((name) => `[${name}]`).join(" ")}`
  return `no filter makes [${label}]${makeDidYouMeanClause(label, labels, (name) => `\`[${name}]\``) || choices}`
}
