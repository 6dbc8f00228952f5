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
  const inputs: OpenEnd[] = []
  const outputs: OpenEnd[] = []
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
        if (!end) inputs.push({ medium, label: null, filter: name })
        else if (typeof end === "string") inputs.push({ medium, label: end, filter: name })
        else if (end.medium !== medium)
          return { error: describeMedia(end, { filter: name, medium }) }
      }
      const wrong = inputs.map(describeStream).find((each) => each !== null)
      if (wrong !== undefined) return { error: wrong }
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
        if (typeof other === "string") outputs.push({ ...end, label })
        else if (other.medium !== end.medium) return { error: describeMedia(end, other) }
      }
      before = made
    }
    outputs.push(...before)
  }
  return { inputs, outputs }
}

/** The end of this label, which is then open no more; the label itself where there is none yet. */
function takeEnd(ends: OpenEnd[], label: string): OpenEnd | string {
  const at = ends.findIndex((end) => end.label === label)
  const [end] = at < 0 ? [] : ends.splice(at, 1)
  return end ?? label
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
