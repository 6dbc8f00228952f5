import { lastValue, mapsOf } from "../../../../contract/command-line.ts"
import type { ReadFile } from "../../../../contract/command-line.ts"
import { mediumOf, muxersOf } from "../codecs.ts"
import { metaOf } from "../known.ts"
import type { Known } from "../known.ts"
import { allOf } from "./fate.ts"
import type { Fate } from "./fate.ts"
import { mayLast } from "./filter-rules.ts"
import { endsOfGraph } from "./graph-fates.ts"
import type { GraphEnd } from "./graph-fates.ts"
import { leavesOut } from "./input-streams.ts"
import type { Input } from "./input-streams.ts"

/** A stream that an output takes; its medium is null where that is not known. */
export type OutputStream = { medium: string | null; fate: Fate }

/** A stream that a graph of the whole command makes, or all of one of which it is not known what it makes. */
export type MadeStream = OutputStream & Pick<GraphEnd, "label">

/** A stream of which nothing is known, and perhaps several of them. */
export const NOT_KNOWN: MadeStream = { medium: null, label: null, fate: null }

/** What streams of outputs come from. */
type Origins = { inputs: readonly Input[]; ends: readonly MadeStream[]; known: Known }

/** The streams of an output, as it maps them or as ffmpeg chooses them, behind its own filters. */
export function streamsOfOutput(
  output: ReadFile,
  { inputs, ends, known, isFirst }: Origins & { isFirst: boolean },
): OutputStream[] {
  const maps = mapsOf(output)
  const labels = maps.flatMap((map) => /^\[([^\]]+)\]$/.exec(map)?.[1] ?? [])
  const loose = isFirst ? ends.filter(({ label }) => label === null) : []
  const taken =
    maps.length > 0
      ? maps.filter((map) => !map.startsWith("[")).flatMap((map) => mapped(map, inputs))
      : chosen(output, { inputs, made: loose, known })
  return [
    ...loose,
    ...labels.map((label) => ends.find((end) => end.label === label) ?? NOT_KNOWN),
    ...differing(taken)
      .filter(({ medium }) => medium === null || !leavesOut(output, medium))
      .flatMap((stream) =>
        fatesBehind(stream, output, known).map((fate) => ({ medium: stream.medium, fate })),
      ),
  ]
}

/** Streams without those that are as another is: a graph is not read for each of them. */
function differing(streams: readonly OutputStream[]): OutputStream[] {
  const known = new Map<Fate, Set<string | null>>()
  return streams.filter(({ medium, fate }) => {
    const media = known.get(fate) ?? new Set()
    known.set(fate, media)
    const isNew = !media.has(medium)
    media.add(medium)
    return isNew
  })
}

/** The streams of inputs that a map names. */
function mapped(map: string, inputs: readonly Input[]): OutputStream[] {
  const [, place, medium = "", number, more = "", mark] =
    /^(\d+)(?::(?:([vVas])(?::\d+)?|(\d+)|([^?]*)))?(\?)?$/.exec(map) ?? []
  const input = place === undefined ? undefined : inputs[Number(place)]
  if (!input) return [NOT_KNOWN]
  const { streams, fate } = input
  if (!streams) {
    const own = medium === "" ? null : medium.toUpperCase()
    // What may be missing may leave others that end.
    return [{ medium: own, fate: mark === undefined ? fate : null }]
  }
  if (number !== undefined) {
    const stream = streams[Number(number)]
    return stream ? [{ medium: stream.medium, fate }] : []
  }
  if (more !== "") return [NOT_KNOWN]
  const own = streams.filter((each) => medium === "" || each.medium === medium.toUpperCase())
  return own.map((each) => ({ medium: each.medium, fate }))
}

/** The streams of inputs that ffmpeg chooses: one of each medium that no graph makes. */
function chosen(
  output: ReadFile,
  { inputs, made, known }: Pick<Origins, "inputs" | "known"> & { made: readonly MadeStream[] },
): OutputStream[] {
  // A stream of any medium may be made, so that none of it is chosen.
  if (made.some(({ medium }) => medium === null)) return [NOT_KNOWN]
  const endless = allOf(inputs.map(({ fate }) => fate))
  if (endless && made.length === 0 && inputs.some(({ streams }) => !streams)) {
    return [{ medium: null, fate: endless }]
  }
  const muxers = muxersOf(segmentOf(output), known) ?? []
  const [muxer] = muxers.length === 1 ? muxers : []
  return ["V", "A", "S"].flatMap((medium) => {
    if (made.some((end) => end.medium === medium)) return []
    const codecs = muxer ? metaOf(muxer, medium.toLowerCase()) : null
    // Texts are taken by formats that have no codec of their own for them, where one is named.
    const isLeft = medium !== "S" && codecs?.length === 0
    const fate = isLeft ? undefined : fateOfChoice(medium, inputs)
    if (fate === undefined) return []
    // Files of sound take covers alone for their picture.
    const isKnown = codecs !== null && codecs[0] !== "png"
    return [{ medium, fate: isKnown ? fate : null }]
  })
}

/** An output as one of its segments is, whose format its name says. */
function segmentOf(output: ReadFile): ReadFile {
  if (lastValue(output, "f")?.endsWith("segment") !== true) return output
  return { ...output, options: output.options.filter(({ name }) => name !== "f") }
}

/** The fate of the stream that ffmpeg chooses of a medium; undefined where there is none. */
function fateOfChoice(medium: string, inputs: readonly Input[]): Fate | undefined {
  const candidates = inputs.flatMap(({ streams, fate }) => {
    if (!streams) return [{ weight: null, fate, isSure: false }]
    const own = streams.filter((stream) => stream.medium === medium)
    return own.map(({ weight }) => ({ weight, fate, isSure: true }))
  })
  if (candidates.length === 0) return undefined
  if (!candidates.some(({ isSure }) => isSure) || medium === "S") return null
  const first = candidates.reduce((most, each) => {
    return (each.weight ?? 0) > (most.weight ?? 0) ? each : most
  })
  const areWeighed = candidates.every(({ weight }) => weight !== null)
  return areWeighed ? first.fate : allOf(candidates.map(({ fate }) => fate))
}

/** The fates of streams of a kind behind the filters of their output. */
function fatesBehind({ medium, fate }: OutputStream, output: ReadFile, known: Known): Fate[] {
  const filters = output.options.filter(({ name }) => /^(?:vf|af|filter)$/.test(name))
  const own = filters.filter((option) => {
    if (option.name === "filter") return [null, medium].includes(mediumOf(option))
    return medium === null || option.name === (medium === "A" ? "af" : "vf")
  })
  const [last] = own.slice(-1)
  if (!last || (fate === null && !mayLast(last.value ?? ""))) return [fate]
  if (medium === null) return [null]
  const isForOne = own.some(({ word }) => /:\d+$/.test(word))
  const graph = { text: last.value ?? "", option: last.word }
  const [end] = endsOfGraph(graph, known, () => (isForOne ? null : fate)) ?? []
  const behind = end?.fate ?? null
  if (!isForOne) return [behind]
  // There is a first one, and others may be as they are.
  return own.length === 1 && last.word.endsWith(":0") ? [behind, null] : [null]
}

/** Whether an output is one picture alone, of which there is no second. */
export function isOnePicture(output: ReadFile, known: Known): boolean {
  const muxers = muxersOf(output, known) ?? []
  const isPicture = muxers.length === 1 && muxers[0]?.name === "image2"
  return isPicture && !output.word.includes("%") && lastValue(output, "update") === null
}
