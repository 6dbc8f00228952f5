import { lastValue } from "../../../../contract/command-line.ts"
import type { ReadFile } from "../../../../contract/command-line.ts"
import { mediumOf, muxersOf } from "../codecs.ts"
import { metaOf } from "../known.ts"
import type { Known } from "../known.ts"
import { allOf } from "./fate.ts"
import type { Fate } from "./fate.ts"
import { endsOfGraph } from "./graph-fates.ts"
import type { GraphEnd } from "./graph-fates.ts"
import { leavesOut } from "./input-streams.ts"
import type { Input } from "./input-streams.ts"

/** A stream of an output; its medium is null where that is not known, or is nothing to its fate. */
type OutputStream = { medium: string | null; fate: Fate; isMade?: boolean }

/** What streams of outputs come from. */
type Origins = { inputs: readonly Input[]; ends: readonly GraphEnd[]; known: Known }

/** What becomes of the streams of an output, as it maps them or as ffmpeg chooses them. */
export function fatesOfOutput(output: ReadFile, origins: Origins & { isFirst: boolean }): Fate[] {
  const maps = output.options.filter(({ name }) => name === "map")
  const streams =
    maps.length > 0
      ? maps.flatMap(({ value }) => mapped(value ?? "", origins))
      : chosen(output, origins)
  return streams
    .filter(({ medium }) => medium === null || !leavesOut(output, medium))
    .map((stream) => (stream.isMade ? stream.fate : fateBehind(stream, output, origins.known)))
}

/** The streams that a map names; what it takes away may be any of the others. */
function mapped(value: string, { inputs, ends }: Origins): OutputStream[] {
  const label = /^\[([^\]]+)\]$/.exec(value)?.[1]
  if (label !== undefined) {
    const end = ends.find((each) => each.label === label)
    return [{ medium: null, fate: end?.fate ?? null, isMade: true }]
  }
  const [, place, medium = "", number, more = "", mark] =
    /^(\d+)(?::(?:([vVas])(?::\d+)?|(\d+)|([^?]*)))?(\?)?$/.exec(value) ?? []
  const input = place === undefined ? undefined : inputs[Number(place)]
  if (!input) return [{ medium: null, fate: null }]
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
  if (more !== "") return [{ medium: null, fate: null }]
  const own = streams.filter((each) => medium === "" || each.medium === medium.toUpperCase())
  return own.map((each) => ({ medium: each.medium, fate }))
}

/** The streams that ffmpeg chooses: ends of graphs without a label, and one of each other medium. */
function chosen(
  output: ReadFile,
  { inputs, ends, known, isFirst }: Origins & { isFirst?: boolean },
): OutputStream[] {
  const loose = isFirst === true ? ends.filter(({ label }) => label === null) : []
  const [muxer, ...others] = muxersOf(output, known) ?? []
  const media = ["V", "A", "S"].filter((medium) => {
    if (loose.some((end) => end.medium === medium)) return false
    return !muxer || others.length > 0 || metaOf(muxer, medium.toLowerCase()).length > 0
  })
  const isKnown = muxer !== undefined && others.length === 0
  return [
    ...loose.map((end) => ({ ...end, isMade: true })),
    ...media.flatMap((medium) => {
      const fate = fateOfChoice(medium, inputs)
      return fate === undefined ? [] : [{ medium, fate: isKnown ? fate : null }]
    }),
  ]
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

/** The fate of a stream behind the filters of its output. */
function fateBehind({ medium, fate }: OutputStream, output: ReadFile, known: Known): Fate {
  const filters = output.options.filter(({ name }) => /^(?:vf|af|filter)$/.test(name))
  const own = filters.filter((option) => {
    if (option.name === "filter") return [null, medium].includes(mediumOf(option))
    return medium === null || option.name === (medium === "A" ? "af" : "vf")
  })
  const [last] = own.slice(-1)
  if (!last) return fate
  if (medium === null || own.some(({ word }) => /:\d+$/.test(word))) return null
  const graph = { text: last.value ?? "", option: last.word }
  const [end] = endsOfGraph(graph, known, () => fate) ?? []
  return end?.fate ?? null
}

/** Whether an output is one picture alone, of which there is no second. */
export function isOnePicture(output: ReadFile, known: Known): boolean {
  const muxers = muxersOf(output, known) ?? []
  const isPicture = muxers.length === 1 && muxers[0]?.name === "image2"
  return isPicture && !output.word.includes("%") && lastValue(output, "update") === null
}
