import type { ChainFilter } from "./graph.ts"
import type { Known } from "./known.ts"

/** Ends of a graph that nothing within it is linked to: the letter of the medium, and the label. */
export type OpenEnd = { medium: string; label: string | null; filter: string }

/** The open ends of a graph; null where how many there are depends on what only ffmpeg knows. */
export type Links = { inputs: OpenEnd[]; outputs: OpenEnd[] } | { error: string } | null

/** Options that say how many pads filters have, and how many that is without them. */
const COUNTED: Record<string, { option: string; side: "inputs" | "outputs"; least: number }> = {
  split: { option: "outputs", side: "outputs", least: 2 },
  asplit: { option: "outputs", side: "outputs", least: 2 },
  hstack: { option: "inputs", side: "inputs", least: 2 },
  vstack: { option: "inputs", side: "inputs", least: 2 },
  xstack: { option: "inputs", side: "inputs", least: 2 },
  amix: { option: "inputs", side: "inputs", least: 2 },
  amerge: { option: "inputs", side: "inputs", least: 2 },
}

/** Links filters as ffmpeg does: each to the one before it, and by labels. */
export function linkGraph(chains: readonly ChainFilter[][], known: Known): Links {
  const inputs = openEnds()
  const outputs = openEnds()
  for (const chain of chains) {
    let before: OpenEnd[] = []
    for (const filter of chain) {
      const pads = padsOf(filter, known)
      if (!pads) return null
      const { name } = filter
      const given = [...filter.inputs.map((label) => takeEnd(outputs, label)), ...before]
      if (given.length > pads.inputs.length) {
        return { error: describeExcess(filter, given.length, pads.inputs.length) }
      }
      for (const [place, medium] of pads.inputs.split("").entries()) {
        const end = given[place]
        const isMade = typeof end === "object"
        if (isMade && end.medium === medium) continue
        if (isMade) return { error: describeMedia(end, { filter: name, medium }) }
        const open = { medium, label: end ?? null, filter: name }
        const wrong = describeStream(open)
        if (wrong !== null) return { error: wrong }
        addEnd(inputs, open)
      }
      const made = pads.outputs.split("").map((medium) => ({ medium, label: null, filter: name }))
      if (filter.outputs.length > made.length) {
        return {
          error: `the filter ${name} has ${made.length} outputs, and ${filter.outputs.length} labels stand behind it; leave out [${filter.outputs.at(-1) ?? ""}]`,
        }
      }
      for (const label of filter.outputs) {
        const end = made.shift()
        if (!end) continue
        const other = takeEnd(inputs, label)
        if (typeof other === "string") addEnd(outputs, { ...end, label })
        else if (other.medium !== end.medium) return { error: describeMedia(end, other) }
      }
      before = made
    }
    for (const end of before) addEnd(outputs, end)
  }
  return { inputs: [...inputs.all], outputs: [...outputs.all] }
}

/** Open ends in their order, and those with a label by it. */
type OpenEnds = { all: Set<OpenEnd>; byLabel: Map<string, OpenEnd[]> }

function openEnds(): OpenEnds {
  return { all: new Set(), byLabel: new Map() }
}

function addEnd({ all, byLabel }: OpenEnds, end: OpenEnd): void {
  all.add(end)
  if (end.label === null) return
  const alike = byLabel.get(end.label)
  if (alike) alike.push(end)
  else byLabel.set(end.label, [end])
}

/** Closes the first end of a label; returns the label itself where no end has it yet. */
function takeEnd({ all, byLabel }: OpenEnds, label: string): OpenEnd | string {
  const end = byLabel.get(label)?.shift()
  if (!end) return label
  all.delete(end)
  return end
}

/** The media of a filter's pads, a letter each; null where their number is not known. */
export function padsOf({ name, options }: ChainFilter, known: Known) {
  const entry = known.find("filters", name)
  const [inputs = "", outputs = ""] = entry?.meta.split(" ").at(-1)?.split(">") ?? []
  if (!entry) return null
  if (name === "concat") return padsOfConcat(options)
  // Of stereo, where nothing else is said.
  if (name === "channelsplit" && options.length === 0) return { inputs: "A", outputs: "AA" }
  const counted = Object.hasOwn(COUNTED, name) ? COUNTED[name] : undefined
  const pads = { inputs: plainPads(inputs), outputs: plainPads(outputs) }
  if (counted && (inputs === "N" || outputs === "N")) {
    const given = options.find((option, place) => {
      const own = entry.options[place]?.names ?? []
      return (
        option.name === counted.option || (option.name === null && own.includes(counted.option))
      )
    })
    const isOther = options.some((option) => option.name !== null && /^n$/.test(option.name))
    const grid = options.find((option) => option.name === "grid")?.value.split("x")
    // That of a grid goes before the one that is given.
    const ofGrid = grid && Number(grid[0]) * Number(grid[1])
    const count = ofGrid ?? (given ? Number(given.value) : counted.least)
    if (!Number.isInteger(count) || count < 1 || count > 64 || isOther) return null
    const medium = name.startsWith("a") ? "A" : "V"
    pads[counted.side] = medium.repeat(count)
  }
  return pads.inputs.includes("N") || pads.outputs.includes("N") ? null : pads
}

function padsOfConcat(options: ChainFilter["options"]) {
  const counts = { n: 2, v: 1, a: 0 }
  const order = ["n", "v", "a"] as const
  for (const [place, { name, value }] of options.entries()) {
    const key = order.find((each) => each === (name ?? order[place]))
    if (key) counts[key] = Number(value)
  }
  const { n, v, a } = counts
  if (![n, v, a].every((count) => Number.isInteger(count) && count >= 0 && count <= 64)) return null
  const segment = "V".repeat(v) + "A".repeat(a)
  return { inputs: segment.repeat(n), outputs: segment }
}

function plainPads(pads: string): string {
  return pads === "|" ? "" : pads
}

const MEDIA: Record<string, string> = { V: "pictures", A: "sound" }

function describeMedia(made: OpenEnd, taken: { filter: string; medium: string }): string {
  return `the filter ${taken.filter} takes ${MEDIA[taken.medium] ?? "another medium"}, and the filter ${made.filter} before it makes ${MEDIA[made.medium] ?? "another"}; put it into a graph of its own medium`
}

/** Why a stream of an input, as `0:a` names it, cannot go where it is put; null where it may. */
function describeStream({ label, filter, medium }: OpenEnd): string | null {
  const letter = /^\d+:([va])(?::|$)/.exec(label ?? "")?.[1]?.toUpperCase()
  if (letter === undefined || letter === medium) return null
  const order = filter === "concat" ? "; give each part in turn, as [0:v][0:a][1:v][1:a]" : ""
  return `the filter ${filter} takes ${MEDIA[medium] ?? "another medium"} where [${label ?? ""}] stands, which is ${MEDIA[letter] ?? "another"}${order}`
}

function describeExcess({ name }: ChainFilter, given: number, takes: number): string {
  const has = takes === 0 ? "has no input" : `has ${takes} ${takes === 1 ? "input" : "inputs"}`
  return `the filter ${name} ${has}, and ${given} ${given === 1 ? "is" : "are"} given; leave out what is too many, or write ; for , before it`
}
