import { lastValue, readCommand } from "../../../src/contract/command-line.ts"
import type { ReadFile } from "../../../src/contract/command-line.ts"
import { parseTime } from "../../../src/contract/media-time.ts"
import { endsOfGraph, lengthThrough } from "./graph.ts"
import type { GraphEnd } from "./graph.ts"
import { cut, longest, mapTimes, shortest, spanOf } from "./span.ts"
import type { Length, Span } from "./span.ts"

/** What is known of an input: its length, and which streams it has; null where that is not known. */
export type InputFacts = {
  seconds: number | null
  streams: { video: boolean; audio: boolean } | null
}

/** What is known of an input by its name, and by its place among the inputs. */
export type FactsOf = (name: string, index: number) => InputFacts

/** An input as the outputs read it. */
type Input = { length: Length; hasVideo: boolean; hasAudio: boolean }

/** The inputs of a command, and what its complex graphs make of them. */
type Sources = { inputs: Input[]; ends: GraphEnd[] | "unknown" }

/**
 * When what a command writes begins and ends, as ffmpeg counts the time that it has written: over all
 * outputs, by the inputs, -ss, -t, -to, loops, and what filters make of them. Null where that is not
 * known, or never ends.
 */
export function expectedSpan(argv: readonly string[], factsOf: FactsOf): Span | null {
  const { files, trailing } = readCommand(argv)
  const inputs = files
    .filter(({ kind }) => kind === "input")
    .map((file, index) => readInput(file, factsOf(file.word, index)))
  const graphs = [...files.flatMap(({ options }) => options), ...trailing].flatMap((option) =>
    option.name === "filter_complex" || option.name === "lavfi" ? (option.value ?? []) : [],
  )
  const sources = { inputs, ends: endsOfAll(graphs, inputs) }
  const outputs = files.filter(({ kind }) => kind === "output")
  const made = longest(outputs.map((output) => outputLength(output, sources)))
  if (made === null || made === "unknown") return null
  return made.end < Infinity && made.end > made.start ? made : null
}

function readInput(file: ReadFile, { seconds, streams }: InputFacts): Input {
  const isGraph = lastValue(file, "f") === "lavfi"
  const ends = isGraph ? endsOfGraph(file.word, NO_INPUTS) : null
  const whole = isGraph ? lengthOfEnds(ends) : lengthOfFile(file, seconds)
  const shift = parseTime(lastValue(file, "itsoffset") ?? "0") ?? 0
  const length = limit(file, loop(file, whole))
  return {
    length: isSpan(length) ? mapTimes(length, (moment) => moment + shift) : length,
    hasVideo: ends ? ends.some(({ isSound }) => !isSound) : (streams?.video ?? true),
    hasAudio: ends ? ends.some(({ isSound }) => isSound) : (streams?.audio ?? true),
  }
}

const NO_INPUTS = { byLabel: () => "unknown" as const, next: () => "unknown" as const }

function lengthOfEnds(ends: GraphEnd[] | null): Length {
  return ends === null ? "unknown" : longest(ends.map(({ length }) => length))
}

function lengthOfFile(file: ReadFile, seconds: number | null): Length {
  const isEndless = lastValue(file, "loop") === "1" || lastValue(file, "ignore_loop") === "0"
  if (isEndless) return spanOf(Infinity)
  return seconds === null ? null : spanOf(seconds)
}

/** What -stream_loop makes of an input. */
function loop(file: ReadFile, length: Length): Length {
  const times = Number(lastValue(file, "stream_loop") ?? 0)
  if (times === -1) return spanOf(Infinity)
  return isSpan(length) && times > 0 ? spanOf(length.end * (times + 1)) : length
}

/** What -ss, -sseof, -t and -to of a file leave of a length. */
function limit(file: ReadFile, length: Length): Length {
  const sinceEnd = parseTime((lastValue(file, "sseof") ?? "").replace(/^-/, ""))
  const fromEnd = sinceEnd !== null && isSpan(length) ? Math.max(0, length.end - sinceEnd) : null
  const from = fromEnd ?? parseTime(lastValue(file, "ss") ?? "0") ?? 0
  const most = parseTime(lastValue(file, "t") ?? undefined)
  const to = most === null ? parseTime(lastValue(file, "to") ?? undefined) : from + most
  if (!isSpan(length)) return to === null ? length : spanOf(Math.max(0, to - from))
  return mapTimes(cut(length, from, to ?? Infinity), (moment) => Math.max(0, moment - from))
}

/** What all complex graphs of a command make. */
function endsOfAll(graphs: readonly string[], inputs: readonly Input[]): GraphEnd[] | "unknown" {
  const next = { video: 0, audio: 0 }
  const all = graphs.map((graph) =>
    endsOfGraph(graph, {
      byLabel: (label) => inputs[Number(/^(\d+)(?::|$)/.exec(label)?.[1])]?.length ?? "unknown",
      next: (isSound) => {
        const able = inputs.filter(({ hasVideo, hasAudio }) => (isSound ? hasAudio : hasVideo))
        const at = isSound ? next.audio++ : next.video++
        return able[at]?.length ?? "unknown"
      },
    }),
  )
  const known = all.filter((ends) => ends !== null)
  return known.length < all.length ? "unknown" : known.flat()
}

function outputLength(output: ReadFile, sources: Sources): Length {
  const maps = output.options.flatMap(({ name, value }) => (name === "map" ? (value ?? []) : []))
  const chosen = maps.filter((map) => !map.startsWith("-"))
  const isShortest = output.options.some(({ name }) => name === "shortest")
  const pick = isShortest ? shortest : longest
  const streams =
    chosen.length > 0
      ? chosen.flatMap((map) => mappedLengths(output, map, sources))
      : selectedLengths(output, sources, pick)
  return limit(output, pick(streams))
}

/** The lengths of the streams that a -map names. */
function mappedLengths(output: ReadFile, map: string, { inputs, ends }: Sources): Length[] {
  const label = /^\[(.*)\]$/.exec(map)?.[1]
  if (label !== undefined) {
    if (ends === "unknown") return ["unknown"]
    const end = ends.find((each) => each.label === label)
    return [end ? end.length : "unknown"]
  }
  const [, index, type] = /^(\d+)(?::([vVas]))?/.exec(map) ?? []
  const input = inputs[Number(index)]
  if (!input) return ["unknown"]
  if (type === "s") return [input.length]
  return [
    ...(type !== "a" && input.hasVideo ? [filtered(output, "v", input.length)] : []),
    ...((type === undefined || type === "a") && input.hasAudio
      ? [filtered(output, "a", input.length)]
      : []),
  ]
}

/** The lengths of the streams that ffmpeg takes by itself: of graphs, and of inputs one of each kind. */
function selectedLengths(
  output: ReadFile,
  { inputs, ends }: Sources,
  pick: typeof longest,
): Length[] {
  if (ends === "unknown") return ["unknown"]
  const has = new Set(output.options.map(({ name }) => name))
  const wantsVideo = !has.has("vn") && ends.every(({ isSound }) => isSound)
  const wantsAudio = !has.has("an") && !ends.some(({ isSound }) => isSound)
  const videos = inputs.flatMap(({ hasVideo, length }) => (hasVideo ? [length] : []))
  const sounds = inputs.flatMap(({ hasAudio, length }) => (hasAudio ? [length] : []))
  return [
    ...ends.map(({ length }) => length),
    ...(wantsVideo && videos.length > 0 ? [filtered(output, "v", pick(videos))] : []),
    ...(wantsAudio && sounds.length > 0 ? [filtered(output, "a", pick(sounds))] : []),
  ]
}

/** What the filters of an output's pictures or sound make of a length. */
function filtered(output: ReadFile, type: "v" | "a", length: Length): Length {
  const names = new RegExp(`^-(?:${type}f|filter(?::${type}(?::\\d+)?)?)$`)
  const graph = output.options.findLast(({ word }) => names.test(word))?.value
  return graph ? lengthThrough(graph, length) : length
}

function isSpan(length: Length): length is Span {
  return length !== null && length !== "unknown"
}
