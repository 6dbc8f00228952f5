import { lastValue } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { didYouMean } from "../../../hints/nearest-name.ts"
import { kindOfFilterOption, reasonAgainstFilter } from "../policy/filters.ts"
import { firstFaults, quote, REFUSALS_MAX } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import { mediumOf } from "./codecs.ts"
import { readChains } from "./graph.ts"
import type { ChainFilter, ReadChains } from "./graph.ts"
import { findOption } from "./known.ts"
import type { Known, KnownEntry } from "./known.ts"
import { expectedName } from "./named-values.ts"
import { findGeneric } from "./option-words.ts"
import { meant, usualFilterOption } from "./usual-names.ts"

/** A graph of a command: the option that it is the value of, and its medium where it has one alone. */
export type Graph = { option: string; isComplex: boolean; isOfSound: boolean; read: ReadChains }

/** Reads all graphs that a command holds. */
export function graphsOf({ files, trailing }: ReadCommand): Graph[] {
  return [
    ...files.flatMap((file) => [...file.options.flatMap(graphOf), ...sourceOf(file)]),
    ...trailing.flatMap(graphOf),
  ]
}

function graphOf(option: ReadOption): Graph[] {
  const { word, name, value } = option
  const isComplex = name === "filter_complex" || name === "lavfi"
  if (value === null || !(isComplex || /^(?:vf|af|filter)$/.test(name))) return []
  const isOfSound = name === "af" || (name === "filter" && mediumOf(option) === "A")
  return [{ option: word, isComplex, isOfSound, read: readChains(value) }]
}

function sourceOf(file: ReadFile): Graph[] {
  if (file.kind !== "input" || lastValue(file, "f")?.toLowerCase() !== "lavfi") return []
  return [{ option: "-i", isComplex: false, isOfSound: false, read: readChains(file.word) }]
}

/** Refuses filters and options of filters that ffmpeg has not, and labels that no graph makes. */
export function checkGraphs(
  command: ReadCommand,
  graphs: readonly Graph[],
  known: Known,
): Refusal[] {
  const refusals = graphs.flatMap((graph) =>
    checkGraph(graph, known).map((message) => ({
      code: "filter_error" as const,
      option: graph.option,
      message: `${graph.option}: ${message}`,
    })),
  )
  return refusals.length > 0 ? refusals : checkLabels(command, graphs)
}

function checkGraph({ read, isOfSound }: Graph, known: Known): string[] {
  if ("error" in read) return [read.error]
  if (read.chains.length === 0) return ["it is empty; write a filter, or leave the option out"]
  const faults = firstFaults(read.chains.flat(), (filter) => {
    if (reasonAgainstFilter(filter.name)) return []
    const entry = known.find("filters", filter.name)
    if (!entry) return [describeUnknown(filter.name, known, isOfSound)]
    return checkOptions(filter, entry, known).map((each) => `the filter ${filter.name}: ${each}`)
  })
  return [...new Set(faults)]
}

function describeUnknown(name: string, known: Known, isOfSound: boolean): string {
  const near = meant(isOfSound ? "soundFilters" : "filters", name, known.names("filters"))
  const escaped = /^\w+$/.test(name) ? "" : "; escape , and ; within values as \\, and \\;"
  return `there is no filter ${quote(name)}${near === "" ? escaped : near}`
}

function checkOptions(filter: ChainFilter, entry: KnownEntry, known: Known): string[] {
  const generic = known.find("generic", "filter")?.options ?? []
  let last: string | null = null
  return firstFaults(filter.options.entries(), ([place, { name, value }]) => {
    if (name === null && last !== null) return [describeNameless(filter, last, value)]
    last = name
    if (name?.startsWith("/") === true) return []
    const option =
      name === null
        ? entry.options[place]
        : (findOption(entry.options, name) ?? findOption(generic, name))
    if (!option) return [describeOption(filter, name ?? value, entry, name === null)]
    if (filter.name === "scale" && option.names.includes("flags")) {
      // ffmpeg 5 crashes over flags that it has not.
      const flags = findGeneric(["sws"], "sws_flags", known)
      const expected = flags && expectedName([flags], value, known)
      return expected ? [`flags=${quote(value)}: ${expected}`] : []
    }
    const isText = kindOfFilterOption(filter.name, name ?? option.names[0] ?? "") !== null
    const expected = isText || /[\\'"]/.test(value) ? null : expectedName([option], value, known)
    return expected === null ? [] : [`${name ?? option.names[0]}=${quote(value)}: ${expected}`]
  })
}

function describeOption(
  { name: filter }: ChainFilter,
  given: string,
  { options }: KnownEntry,
  isNameless: boolean,
): string {
  const names = options.flatMap((option) => option.names)
  if (names.length === 0) {
    return `it takes no options, and ${quote(given)} is given; write ${filter} alone`
  }
  if (isNameless) {
    return `it takes ${options.length} values, and ${quote(given)} is one too many; leave it out`
  }
  const usual = usualFilterOption(filter, given)
  const near = usual === null ? didYouMean(given, names) : `; write \`${usual}\``
  const listed = `; it has ${names.slice(0, 8).join(", ")}${names.length > 8 ? " and more" : ""}`
  return `it has no option ${quote(given)}${near === "" ? listed : near}`
}

/** A value without a name behind one that has a name. */
function describeNameless({ name: filter }: ChainFilter, last: string, value: string): string {
  const isText = kindOfFilterOption(filter, last) !== null || /^[xy]$/.test(last)
  if (isText) {
    return `${quote(value)} stands behind a colon of ${last} and has no name; within a value write \\: for a colon, in a graph \\\\: or '…\\:…', as in text='10\\:30'`
  }
  return `${quote(value)} has no name and stands behind ${last}=, which has one; name it too, or write \\: where the colon is a part of the value`
}

/** Refuses maps of labels that no graph makes. */
function checkLabels({ files }: ReadCommand, graphs: readonly Graph[]): Refusal[] {
  const options = files.flatMap((file) => file.options)
  if (options.some(({ name }) => /^(?:\/.+|filter_complex_script)$/.test(name))) return []
  const made = new Set(
    graphs.flatMap(({ isComplex, read }) =>
      isComplex && "chains" in read ? read.chains.flat().flatMap(({ outputs }) => outputs) : [],
    ),
  )
  const mapped = options.flatMap(({ name, value }) =>
    name === "map" ? (/^\[([^\]]+)\]$/.exec(value ?? "")?.[1] ?? []) : [],
  )
  const unmade = mapped.filter((label) => !made.has(label)).slice(0, REFUSALS_MAX)
  return unmade.map((label) => ({
    code: "stream_not_found",
    option: "-map",
    message: `-map: ${describeUnmade(label, [...made], options)}`,
  }))
}

function describeUnmade(
  label: string,
  made: readonly string[],
  options: readonly ReadOption[],
): string {
  const simple = options.find(({ name, value }) => {
    return /^(?:vf|af|filter)$/.test(name) && value?.includes(`[${label}]`)
  })
  if (simple) {
    const input = simple.name === "af" ? "[0:a]" : "[0:v]"
    return `[${label}] stands in ${simple.word}, whose filters are for one stream and have no labels to map; write them as -filter_complex "${input}…[${label}]"`
  }
  const listed =
    made.length === 0
      ? "; label the output of a filter so"
      : `; they make ${made.map((each) => `[${each}]`).join(" ")}`
  return `no filter makes [${label}]${didYouMean(label, made, (name) => `\`[${name}]\``) || listed}`
}
