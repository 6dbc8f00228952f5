import { lastValue, mapsOf } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { didYouMean } from "../../../suggest.ts"
import { firstFaults, quote, REFUSALS_MAX } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import { mediumOf } from "./codecs.ts"
import { checkFilter } from "./check-filters.ts"
import { readChains } from "./graph.ts"
import type { ChainFilter } from "./graph.ts"
import type { Known } from "./known.ts"
import { linkGraph, padsOf } from "./links.ts"
import type { Links, OpenEnd } from "./links.ts"

/** A graph of a command: the option that it is the value of, and its medium where it has one alone. */
export type Graph = {
  option: string
  kind: "simple" | "complex" | "source"
  medium: "V" | "A" | null
  text: string
}

/** All graphs that a command holds. */
export function graphsOf({ files, trailing }: ReadCommand): Graph[] {
  return [
    ...files.flatMap((file) => [...file.options.flatMap(graphOf), ...sourceOf(file)]),
    ...trailing.flatMap(graphOf),
  ]
}

function graphOf(option: ReadOption): Graph[] {
  const { word, name, value } = option
  if (value === null) return []
  if (name === "filter_complex" || name === "lavfi") {
    return [{ option: word, kind: "complex", medium: null, text: value }]
  }
  if (name !== "vf" && name !== "af" && name !== "filter") return []
  const own = name === "vf" ? "V" : "A"
  const medium = name === "filter" ? mediumOf(option) : own
  return [{ option: word, kind: "simple", medium: medium === "S" ? null : medium, text: value }]
}

function sourceOf(file: ReadFile): Graph[] {
  if (file.kind !== "input" || lastValue(file, "f")?.toLowerCase() !== "lavfi") return []
  return [{ option: "-i", kind: "source", medium: null, text: file.word }]
}

/** Inputs and outputs that the filters of a command may have together. */
const PADS_MAX = 4000

/** Refuses graphs whose filters have more inputs and outputs than are linked in a few milliseconds. */
export function checkPadCount(command: ReadCommand, known: Known): Refusal | null {
  let count = 0
  for (const { option, text } of graphsOf(command)) {
    const read = readChains(text)
    for (const filter of "error" in read ? [] : read.chains.flat()) {
      const pads = padsOf(filter, known)
      count += pads ? pads.inputs.length + pads.outputs.length : 0
      if (count <= PADS_MAX) continue
      const message = `${option}: its filters have more than ${PADS_MAX} inputs and outputs together; split the work into several commands`
      return { code: "too_complex", option, message }
    }
  }
  return null
}

/** What no ffmpeg would take of the graphs of a command. */
export function checkGraphs(command: ReadCommand, known: Known): Refusal[] {
  const graphs = graphsOf(command)
  const made = graphs.flatMap((graph) => {
    const { faults, links } = checkGraph(graph, known)
    const refusals = faults.map((message) => ({
      code: "filter_error" as const,
      option: graph.option,
      message: `${graph.option}: ${message}`,
    }))
    return { graph, refusals, links }
  })
  const refusals = made.flatMap((each) => each.refusals)
  if (refusals.length > 0) return refusals
  const complex = made.filter(({ graph }) => graph.kind === "complex")
  if (!complex.every(({ links }) => links)) return []
  return checkLabels(command, {
    ends: complex.flatMap(({ links }) => links?.outputs ?? []),
    read: new Set(complex.flatMap(({ links }) => links?.inputs ?? []).map(({ label }) => label)),
  })
}

type Checked = { faults: string[]; links: Exclude<Links, { error: string }> }

function checkGraph({ kind, medium, text }: Graph, known: Known): Checked {
  const read = readChains(text)
  if ("error" in read) return { faults: [read.error], links: null }
  const { chains } = read
  if (chains.length === 0) {
    return { faults: ["it is empty; write a filter, or leave the option out"], links: null }
  }
  const faults = [
    ...new Set(firstFaults(chains.flat(), (filter) => checkFilter(filter, known, medium))),
  ]
  if (faults.length > 0) return { faults, links: null }
  const links = linkGraph(chains, known)
  if (!links) return { faults: [], links: null }
  if ("error" in links) return { faults: [links.error], links: null }
  const shape = kind === "simple" ? describeShape(chains.flat(), links, { medium, known }) : null
  return { faults: shape === null ? [] : [shape], links }
}

/** What keeps a graph from being one for a single stream: one input and one output of its medium. */
function describeShape(
  filters: readonly ChainFilter[],
  { inputs, outputs }: { inputs: OpenEnd[]; outputs: OpenEnd[] },
  { medium, known }: Pick<Graph, "medium"> & { known: Known },
): string | null {
  if (inputs.length !== 1 || outputs.length !== 1) {
    const has = `${countOf(inputs, "input")} and ${countOf(outputs, "output")}`
    return `these filters have ${has}, and those of one stream have one of each; use -filter_complex with labels, as [0:v][1:v]`
  }
  const wrong = [...inputs, ...outputs].find((end) => medium !== null && end.medium !== medium)
  if (!wrong || filters.length === 0) return null
  const { filter } = wrong
  if (inputs[0]?.medium !== outputs[0]?.medium) {
    const label = inputs[0]?.medium === "A" ? "[0:a]" : "[0:v]"
    return `the filter ${filter} makes one medium of another; write it as -filter_complex "${label}${filter}=…"`
  }
  if (wrong.medium === "A") return `the filter ${filter} is for sound; put it into -af`
  const ofSound = filter === "normalize" ? "loudnorm" : `a${filter}`
  const other = known.find("filters", ofSound) ? `; for sound there is \`${ofSound}\`` : ""
  return `the filter ${filter} is for pictures; put it into -vf${other}`
}

function countOf({ length }: readonly unknown[], what: string): string {
  return `${length === 0 ? "no" : length} ${what}${length === 1 ? "" : "s"}`
}

/**
 * Labels that are mapped and that no graph makes, and outputs of graphs that go nowhere. From version 7.1,
 * graphs read labels of others.
 */
function checkLabels(
  { files }: ReadCommand,
  { ends, read }: { ends: readonly OpenEnd[]; read: ReadonlySet<string | null> },
): Refusal[] {
  const maps = files.flatMap(({ options }) => options.filter(({ name }) => name === "map"))
  const mapped = maps.flatMap((option) => {
    const label = /^\[([^\]]+)\]$/.exec(option.value ?? "")?.[1]
    return label === undefined ? [] : [label]
  })
  const labels = ends.flatMap(({ label }) => label ?? [])
  const made = new Set(labels)
  const unknown = mapped.filter((label) => !made.has(label))
  if (unknown.length > 0) {
    const options = files.flatMap((file) => file.options)
    return unknown.slice(0, REFUSALS_MAX).map((label) => ({
      code: "stream_not_found" as const,
      option: "-map",
      message: `-map: ${describeUnmade(label, { labels, options })}`,
    }))
  }
  const taken = new Set<string>()
  const again = new Set(mapped.filter((label) => taken.size === taken.add(label).size))
  const twice = labels.find((label) => again.has(label))
  if (twice !== undefined) {
    const message = `-map: [${twice}] is mapped twice, and a filter's output goes to one place; make two of it by split or asplit`
    return [{ code: "filter_error", option: "-map", message }]
  }
  const both = files.flatMap((file) => describeBoth(file, ends))
  if (both.length > 0) return both
  const lost = ends.find(({ label }) => label !== null && !taken.has(label) && !read.has(label))
  if (!lost) return []
  const message = `-filter_complex: [${lost.label ?? ""}] goes nowhere; write -map "[${lost.label ?? ""}]" before the output that it is for, or leave the label out`
  return [{ code: "filter_error", option: "-filter_complex", message }]
}

/** Streams that come of a graph for all of the command, and that a graph of one stream is for too. */
function describeBoth({ options }: ReadFile, ends: readonly OpenEnd[]): Refusal[] {
  const maps = mapsOf({ options })
  return options.flatMap((option) => {
    const graph = graphOf(option).find(({ kind }) => kind === "simple")
    const end = ends.find(({ medium, label }) => {
      return medium === graph?.medium && label !== null && maps.includes(`[${label}]`)
    })
    if (!graph || !end || /:\d+$/.test(option.word)) return []
    const message = `${option.word}: [${end.label ?? ""}] comes of -filter_complex, and takes no filters of its own; put ${quote(graph.text)} into that graph, before [${end.label ?? ""}]`
    return [{ code: "filter_error" as const, option: option.word, message }]
  })
}

/** Why no label of this name can be mapped. */
function describeUnmade(
  label: string,
  { labels, options }: { labels: readonly string[]; options: readonly ReadOption[] },
): string {
  const simple = options.find((option) => {
    return graphOf(option)[0]?.kind === "simple" && option.value?.includes(`[${label}]`)
  })
  if (simple) {
    const input = simple.name === "af" ? "[0:a]" : "[0:v]"
    return `[${label}] stands in ${simple.word}, whose filters are for one stream and have no labels to map; write them as -filter_complex "${input}…[${label}]"`
  }
  const similar = didYouMean(label, labels, (name) => `\`[${name}]\``)
  return `no filter makes [${label}]${similar || describeLabels(labels)}`
}

function describeLabels(labels: readonly string[]): string {
  const made = labels.map((label) => `[${label}]`).join(" ")
  return made === "" ? "; label the output of a filter so" : `; they make ${made}`
}
