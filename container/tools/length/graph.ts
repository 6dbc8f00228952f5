import { lengthAfter, makesSound, padsOf, readsSound } from "./filters.ts"
import { readGraph } from "./read-graph.ts"
import type { GraphFilter } from "./read-graph.ts"
import { longest } from "./span.ts"
import type { Length } from "./span.ts"

/** Where a graph takes streams from that it does not make: by a label, or the next one of a kind. */
export type GraphInputs = {
  byLabel: (label: string) => Length
  next: (isSound: boolean) => Length
}

/** A stream that a graph makes and does not read itself; one without a label has null. */
export type GraphEnd = { label: string | null; length: Length; isSound: boolean }

/** How deep chains are read that stand before those which they read. */
const ROUNDS_MAX = 50

/** The streams that a filter graph makes; null where it cannot be read. */
export function endsOfGraph(text: string, inputs: GraphInputs): GraphEnd[] | null {
  const chains = readGraph(text)
  if (!chains) return null
  const made = new Map<string, GraphEnd>()
  const loose: GraphEnd[] = []
  const own = new Set(chains.flat().flatMap(({ to }) => to))
  const read = new Set(chains.flat().flatMap(({ from }) => from))
  function lengthOf(label: string): Length {
    if (!own.has(label)) return inputs.byLabel(label)
    const end = made.get(label)
    return end ? end.length : "unknown"
  }
  let waiting = chains
  for (let round = 0; waiting.length > 0; round += 1) {
    const ready = waiting.filter((chain) => isReady(chain, own, made))
    // What goes in a circle, or on and on, may be of any length.
    const isLast = ready.length === 0 || round === ROUNDS_MAX
    const now = new Set(isLast ? waiting : ready)
    for (const chain of now) loose.push(...runChain(chain, { inputs, lengthOf, made }))
    waiting = waiting.filter((chain) => !now.has(chain))
  }
  return [...[...made.values()].filter(({ label }) => !read.has(label ?? "")), ...loose]
}

/** How long a graph of one input and one output is, whose input is so long. */
export function lengthThrough(text: string, input: Length): Length {
  const ends = endsOfGraph(text, {
    byLabel: (label) => (label === "in" ? input : "unknown"),
    next: () => input,
  })
  return ends === null ? "unknown" : longest(ends.map(({ length }) => length))
}

type Making = {
  inputs: GraphInputs
  lengthOf: (label: string) => Length
  made: Map<string, GraphEnd>
}

/** Notes what a chain makes by its labels; returns its end where that has none. */
function runChain(chain: readonly GraphFilter[], { inputs, lengthOf, made }: Making): GraphEnd[] {
  let passed: Length[] = []
  for (const { name, values, from, to } of chain) {
    const read = [...from.map(lengthOf), ...passed]
    for (let pad = read.length; pad < padsOf(name, values); pad += 1) {
      read.push(inputs.next(readsSound(name, values, pad)))
    }
    const length = lengthAfter(name, values, read)
    for (const [pad, label] of to.entries()) {
      made.set(label, { label, length, isSound: makesSound(name, values, pad) })
    }
    passed = [length]
  }
  const last = chain.at(-1)
  if (!last || last.to.length > 0) return []
  const isSound = makesSound(last.name, last.values, 0)
  return passed.map((length) => ({ label: null, length, isSound }))
}

function isReady(
  chain: readonly GraphFilter[],
  own: ReadonlySet<string>,
  made: ReadonlyMap<string, GraphEnd>,
): boolean {
  const its = new Set(chain.flatMap(({ to }) => to))
  return chain.every(({ from }) =>
    from.every((label) => !own.has(label) || made.has(label) || its.has(label)),
  )
}
