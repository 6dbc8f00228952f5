import { readChains } from "../graph.ts"
import type { ChainFilter } from "../graph.ts"
import type { Known } from "../known.ts"
import { padsOf } from "../links.ts"
import type { Fate } from "./fate.ts"
import { fatesAfter } from "./filter-rules.ts"

/** A stream that a graph makes and does not read itself. */
export type GraphEnd = { medium: string; label: string | null; fate: Fate }

/** The fate of a stream that a graph reads and does not make: of a label, or the next that is free. */
export type Reading = (medium: string, label: string | null) => Fate

/** Where a filter reads from: what another one makes, a label, or nothing that is written. */
type Source = Made | string | null
type Made = { node: Node; place: number }
type Node = {
  filter: ChainFilter
  inputs: { medium: string; from: Source }[]
  outputs: { medium: string; label: string | null; isRead: boolean }[]
  fates: readonly Fate[] | null
}

/** How many filters may stand before those that they read. */
const DEPTH_MAX = 200

/** The ends of a graph, which is the value of `option`; null where how it is linked is not known. */
export function endsOfGraph(
  { text, option }: { text: string; option: string },
  known: Known,
  read: Reading,
): GraphEnd[] | null {
  const chains = readChains(text)
  const nodes = "error" in chains ? null : nodesOf(chains.chains, known)
  if (!nodes) return null
  linkLabels(nodes)
  function fatesOf(node: Node, depth: number): readonly Fate[] {
    if (node.fates) return node.fates
    // What goes in a circle, or on and on, may end.
    node.fates = node.outputs.map(() => null)
    if (depth > DEPTH_MAX) return node.fates
    const inputs = node.inputs.map(({ medium, from }) => {
      if (typeof from === "object" && from) return fatesOf(from.node, depth + 1)[from.place] ?? null
      return read(medium, from)
    })
    node.fates = fatesAfter(node.filter, { inputs, outputs: node.outputs.length, option, known })
    return node.fates
  }
  return nodes.flatMap((node) => {
    const fates = fatesOf(node, 0)
    return node.outputs.flatMap(({ medium, label, isRead }, place) => {
      return isRead ? [] : [{ medium, label, fate: fates[place] ?? null }]
    })
  })
}

/** The filters of chains, each linked to the one before it. */
function nodesOf(chains: readonly ChainFilter[][], known: Known): Node[] | null {
  const nodes: Node[] = []
  for (const chain of chains) {
    let before: Made[] = []
    for (const filter of chain) {
      const pads = padsWithDefaults(filter, known)
      if (!pads) return null
      const given: Source[] = [...filter.inputs, ...before]
      for (const { node, place } of before) {
        const output = node.outputs[place]
        if (output) output.isRead = true
      }
      const node: Node = {
        filter,
        inputs: pads.inputs
          .split("")
          .map((medium, place) => ({ medium, from: given[place] ?? null })),
        outputs: pads.outputs.split("").map((medium, place) => {
          return { medium, label: filter.outputs[place] ?? null, isRead: false }
        }),
        fates: null,
      }
      nodes.push(node)
      before = node.outputs.flatMap(({ label }, place) => (label === null ? [{ node, place }] : []))
    }
  }
  return nodes
}

/** Puts what filters make in the place of its labels where others read them. */
function linkLabels(nodes: readonly Node[]) {
  const labeled = new Map<string, Made>()
  for (const node of nodes) {
    for (const [place, { label }] of node.outputs.entries()) {
      if (label !== null) labeled.set(label, { node, place })
    }
  }
  for (const input of nodes.flatMap(({ inputs }) => inputs)) {
    const made = typeof input.from === "string" ? labeled.get(input.from) : undefined
    if (!made) continue
    input.from = made
    const output = made.node.outputs[made.place]
    if (output) output.isRead = true
  }
}

/** Options by which filters have other pads than these. */
const PLAIN_PADS: Record<string, { pads: [string, string]; unless: RegExp }> = {
  movie: { pads: ["", "V"], unless: /^(?:s|streams)$/ },
  amovie: { pads: ["", "A"], unless: /^(?:s|streams)$/ },
  select: { pads: ["V", "V"], unless: /^(?:n|outputs)$/ },
  aselect: { pads: ["A", "A"], unless: /^(?:n|outputs)$/ },
  ebur128: { pads: ["A", "A"], unless: /^video$/ },
  mix: { pads: ["VV", "V"], unless: /^inputs$/ },
  interleave: { pads: ["VV", "V"], unless: /^(?:n|nb_inputs)$/ },
  ainterleave: { pads: ["AA", "A"], unless: /^(?:n|nb_inputs)$/ },
  afir: { pads: ["AA", "A"], unless: /^(?:response|nbirs|ir)$/ },
  join: { pads: ["AA", "A"], unless: /^inputs$/ },
}

function padsWithDefaults(filter: ChainFilter, known: Known) {
  const { name, options } = filter
  const plain = Object.hasOwn(PLAIN_PADS, name) ? PLAIN_PADS[name] : undefined
  if (!plain || !known.find("filters", name)) return padsOf(filter, known)
  const [inputs, outputs] = plain.pads
  const hasOthers = options.some((option, place) => {
    return option.name === null ? place > 0 : plain.unless.test(option.name)
  })
  return hasOthers ? null : { inputs, outputs }
}
