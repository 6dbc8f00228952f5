import { allOptions } from "../../../../contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../../../contract/command-line.ts"
import type { Refusal } from "../../policy/refusal.ts"
import { graphsOf } from "../check-graphs.ts"
import type { Graph } from "../check-graphs.ts"
import type { Probes } from "../check-streams.ts"
import type { Known } from "../known.ts"
import { allOf, anyOf, isBound, LASTING_FRAMES } from "./fate.ts"
import type { Endless, Fate } from "./fate.ts"
import { mayLast } from "./filter-rules.ts"
import { endsOfGraph } from "./graph-fates.ts"
import type { GraphEnd } from "./graph-fates.ts"
import { readInput } from "./input-streams.ts"
import type { Input } from "./input-streams.ts"
import { fatesOfOutput, isOnePicture } from "./output-streams.ts"

/** Options with graphs that stand in files. */
const ELSEWHERE = /^(?:\/.+|filter_complex_script|filter_script)$/
/** More bytes than a job may make. */
const BYTES_MAX = 1e13

/** Outputs that would never end, since one of their streams does not and nothing else ends them. */
export function checkEnds(command: ReadCommand, known: Known, probes: Probes): Refusal[] {
  const options = allOptions(command)
  const outputs = command.files.filter(({ kind }) => kind === "output")
  const unbound = outputs.filter((output) => bounds(output).every(isTooFar))
  if (unbound.length === 0 || options.some(({ name }) => ELSEWHERE.test(name))) return []
  const inputs = command.files
    .filter(({ kind }) => kind === "input")
    .map((input) => readInput(input, known, probes))
  const graphs = graphsOf(command).filter(({ kind }) => kind !== "source")
  if (inputs.every(({ fate }) => fate === null) && !graphs.some(({ text }) => mayLast(text))) {
    return []
  }
  const ends = endsOfComplex(graphs, inputs, known)
  for (const output of unbound) {
    const isFirst = output === outputs[0]
    const fates = fatesOfOutput(output, { inputs, ends, known, isFirst })
    const hasShortest = output.options.some(({ name }) => name === "shortest")
    const fate = hasShortest ? allOf(fates) : anyOf(fates)
    // What a map takes away may be what never ends.
    const isLess = output.options.some(
      ({ name, value }) => name === "map" && value?.startsWith("-"),
    )
    if (!fate || isLess) continue
    return [describe(fate, output, { fates, hasShortest, known })]
  }
  return []
}

/** Options of an output by which it ends. */
function bounds({ options }: ReadFile): ReadFile["options"] {
  return options.filter(({ name }) => /^(?:t|to|fs|frames|vframes|aframes|dframes)$/.test(name))
}

function isTooFar({ name, value }: ReadFile["options"][number]): boolean {
  if (name === "t" || name === "to") return !isBound(value ?? "")
  const count = /^\d+$/.test(value ?? "") ? Number(value) : 0
  return count > (name === "fs" ? BYTES_MAX : LASTING_FRAMES)
}

/** What the graphs of the whole command make. */
function endsOfComplex(
  graphs: readonly Graph[],
  inputs: readonly Input[],
  known: Known,
): GraphEnd[] {
  const complex = graphs.filter(({ kind }) => kind === "complex")
  const areAll = complex.map((graph) => {
    const isNamed = complex.length > 1 || /\[\s*\d+\s*[\]:]/.test(graph.text)
    return endsOfGraph(graph, known, reader(inputs, isNamed)) ?? []
  })
  return areAll.flat()
}

/** Reads streams of inputs as graphs take them; with `isNamed`, which are free is not known. */
function reader(inputs: readonly Input[], isNamed: boolean) {
  const free = inputs.map(({ streams }) => streams?.map(({ medium }) => medium) ?? null)
  return (medium: string, label: string | null): Fate => {
    const place = label === null ? undefined : /^(\d+)(?::|$)/.exec(label)?.[1]
    if (label !== null) return place === undefined ? null : (inputs[Number(place)]?.fate ?? null)
    const able = inputs.filter(({ streams }) => {
      return !streams || streams.some((stream) => stream.medium === medium)
    })
    if (isNamed || free.includes(null)) return allOf(able.map(({ fate }) => fate))
    const at = free.findIndex((media) => media?.includes(medium))
    const media = free[at]
    media?.splice(media.indexOf(medium), 1)
    return inputs[at]?.fate ?? null
  }
}

type Ending = { fates: readonly Fate[]; hasShortest: boolean; known: Known }

function describe(
  { option, why, mend }: Endless,
  output: ReadFile,
  { fates, hasShortest, known }: Ending,
): Refusal {
  const [far] = bounds(output)
  const isLate = far ? `, and ${far.word} ${far.value ?? ""} is longer than any job may take` : ""
  const isVain = hasShortest ? ", and -shortest finds no stream that ends" : ""
  const name = output.word === "-" ? "the command" : `"${output.word}"`
  const bound = isOnePicture(output, known) ? "-frames:v 1" : "-t and its seconds"
  const remedies = [
    ...(mend === null ? [] : [mend]),
    `write ${bound} before the output`,
    ...(fates.includes(null) && !hasShortest
      ? ["-shortest, which ends with the shortest stream"]
      : []),
  ]
  const message = `${option}: ${why}${isLate}${isVain}, so that ${name} would never be done; ${remedies.join(", or ")}`
  return { code: "endless_input", option, message }
}
