import { allOptions } from "../../../../contract/command-line.ts"
import type { ReadCommand, ReadFile, ReadOption } from "../../../../contract/command-line.ts"
import type { Refusal } from "../../policy/refusal.ts"
import { graphsOf } from "../check-graphs.ts"
import type { Graph } from "../check-graphs.ts"
import { MEDIUM_NAMES, mediumOf } from "../codecs.ts"
import type { Probes } from "../check-streams.ts"
import type { Known } from "../known.ts"
import { allOf, anyOf, isBound, LASTING_FRAMES } from "./fate.ts"
import type { Endless, Fate } from "./fate.ts"
import { mayLast } from "./filter-rules.ts"
import { endsOfGraph } from "./graph-fates.ts"
import { readInput } from "./input-streams.ts"
import type { Input } from "./input-streams.ts"
import { isOnePicture, NOT_KNOWN, streamsOfOutput } from "./output-streams.ts"
import type { MadeStream, OutputStream } from "./output-streams.ts"

/** Options with graphs that stand in files. */
const ELSEWHERE = /^(?:\/.+|filter_complex_script|filter_script)$/
/** More bytes than a job may make. */
const BYTES_MAX = 1e13

/** Outputs that would never end, since one of their streams does not and nothing else ends them. */
export function checkEnds(command: ReadCommand, known: Known, probes: Probes): Refusal[] {
  const options = allOptions(command)
  const outputs = command.files.filter(({ kind }) => kind === "output")
  const unbound = outputs.filter((output) => bounds(output).every(mayBeVain))
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
    const streams = streamsOfOutput(output, { inputs, ends, known, isFirst })
    if (!bounds(output).every((bound) => isTooFar(bound) || isVain(bound, streams))) continue
    const fates = streams.map(({ fate }) => fate)
    const hasShortest = output.options.some(({ name }) => name === "shortest")
    const fate = hasShortest ? allOf(fates) : anyOf(fates)
    // What a map takes away may be what never ends.
    const isLess = output.options.some(
      ({ name, value }) => name === "map" && value?.startsWith("-"),
    )
    if (!fate || isLess) continue
    return [describe(fate, output, { streams, hasShortest, known })]
  }
  return []
}

/** Options of an output by which it ends. */
function bounds({ options }: ReadFile): readonly ReadOption[] {
  return options.filter(({ name }) => /^(?:t|to|fs|frames|vframes|aframes|dframes)$/.test(name))
}

/** The medium whose frames an option counts; null where it does not, or says none. */
function countedMedium(bound: ReadOption): string | null {
  if (/^[vad]frames$/.test(bound.name)) return bound.name.charAt(0).toUpperCase()
  return bound.name === "frames" ? mediumOf(bound) : null
}

function mayBeVain(bound: ReadOption): boolean {
  return isTooFar(bound) || countedMedium(bound) !== null
}

/** Whether a bound counts frames of a medium of which its output has no stream. */
function isVain(bound: ReadOption, streams: readonly OutputStream[]): boolean {
  const counted = countedMedium(bound)
  if (counted === null || streams.length === 0) return false
  return streams.every(({ medium }) => medium !== null && medium !== counted)
}

function isTooFar({ name, value }: ReadOption): boolean {
  if (name === "t" || name === "to") return !isBound(value ?? "")
  const count = /^\d+$/.test(value ?? "") ? Number(value) : 0
  return count > (name === "fs" ? BYTES_MAX : LASTING_FRAMES)
}

/** What the graphs of the whole command make. */
function endsOfComplex(
  graphs: readonly Graph[],
  inputs: readonly Input[],
  known: Known,
): MadeStream[] {
  const complex = graphs.filter(({ kind }) => kind === "complex")
  const areAll = complex.map((graph) => {
    const isNamed = complex.length > 1 || /\[\s*\d+\s*[\]:]/.test(graph.text)
    return endsOfGraph(graph, known, reader(inputs, isNamed)) ?? [NOT_KNOWN]
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

type Ending = { streams: readonly OutputStream[]; hasShortest: boolean; known: Known }

function describe(
  { option, why, mend }: Endless,
  output: ReadFile,
  { streams, hasShortest, known }: Ending,
): Refusal {
  const [far] = bounds(output)
  const isLate = far ? `, and ${far.word} ${far.value ?? ""} ${describeVanity(far, streams)}` : ""
  const isShortestVain = hasShortest ? ", and -shortest finds no stream that ends" : ""
  const name = output.word === "-" ? "the command" : `"${output.word}"`
  const bound = isOnePicture(output, known) ? "-frames:v 1" : "-t and its seconds"
  const remedies = [
    ...(mend === null ? [] : [mend]),
    `write ${bound} before the output`,
    ...(!hasShortest && streams.some((stream) => stream.fate === null)
      ? ["-shortest, which ends with the shortest stream"]
      : []),
  ]
  const message = `${option}: ${why}${isLate}${isShortestVain}, so that ${name} would never be done; ${remedies.join(", or ")}`
  return { code: "endless_input", option, message }
}

/** Why a bound of an output ends nothing. */
function describeVanity(bound: ReadOption, streams: readonly OutputStream[]): string {
  if (!isVain(bound, streams)) return "is longer than any job may take"
  return `counts ${NAMES[countedMedium(bound) ?? ""] ?? "what"}, of which it has none`
}

const NAMES: Record<string, string> = { ...MEDIUM_NAMES, D: "data" }
