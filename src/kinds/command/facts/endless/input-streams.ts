import { isTextName, lastValue } from "../../../../contract/command-line.ts"
import type { ReadFile } from "../../../../contract/command-line.ts"
import type { ProbeResult } from "../../../../contract/probe.ts"
import { readChains } from "../graph.ts"
import { isAttached } from "../output-streams.ts"
import type { Known } from "../known.ts"
import type { Probes } from "../check-streams.ts"
import { anyOf, isBound, isRepeatedForEver, LASTING_HOURS } from "./fate.ts"
import type { Fate } from "./fate.ts"
import { endsOfGraph } from "./graph-fates.ts"
import type { GraphEnd } from "./graph-fates.ts"

/**
 * A stream of an input: the letter of its medium, and its pixels or channels, of which ffmpeg takes
 * the most; null where these are not known.
 */
export type InputStream = { medium: string; weight: number | null }

/** An input: what it holds, null where that is not known, and what becomes of it. */
export type Input = { streams: InputStream[] | null; fate: Fate }

/** Names of files of sound alone, but for a cover. */
export const SOUND_NAME = /\.(?:mp3|wav|aac|m4a|flac|ogg|oga|opus|wma|aif|aiff|ac3)$/i
const PICTURE_NAME = /\.(?:jpe?g|png|webp|bmp|tiff?|gif)$/i

/** What is known of an input before it is read. */
export function readInput(file: ReadFile, known: Known, probes: Probes): Input {
  const isSource = lastValue(file, "f")?.toLowerCase() === "lavfi"
  const { streams, fate } = isSource ? readSource(file, known) : readFile(file, probes)
  const kept = streams?.filter(({ medium }) => !leavesOut(file, medium)) ?? null
  const isBounded = file.options.some(({ name, value }) => {
    return (name === "t" || name === "to") && isBound(value ?? "")
  })
  return { streams: kept, fate: isBounded ? null : fate }
}

/** Whether a file's options leave a medium out, as -an does. */
export function leavesOut({ options }: ReadFile, medium: string): boolean {
  return options.some(({ name }) => name === `${medium.toLowerCase()}n`)
}

/** A source has no end before all that it makes has one. */
function readSource(file: ReadFile, known: Known): Input {
  const ends = endsOfGraph({ text: file.word, option: "-i" }, known, () => null)
  if (!ends) return { streams: null, fate: null }
  const [only] = ends.length === 1 ? ends : []
  const streams = ends.toSorted(byPlace).map(({ medium }) => {
    return { medium, weight: only && medium === "A" ? channelsOf(file.word) : null }
  })
  return { streams, fate: anyOf(ends.map(({ fate }) => fate)) }
}

/** Streams of a source are counted by their labels, as out0 and out1. */
function byPlace(one: GraphEnd, other: GraphEnd): number {
  const [first, second] = [one, other].map(({ label }) => /^out(\d+)/.exec(label ?? "")?.[1] ?? "0")
  return Number(first) - Number(second)
}

/** The channels of the usual sources of sound; null for others. */
function channelsOf(text: string): number | null {
  const read = readChains(text)
  const [source, ...others] = "error" in read ? [] : read.chains.flat()
  if (!source || others.length > 0) return null
  if (source.name === "sine" || source.name === "anoisesrc") return 1
  if (source.name !== "anullsrc") return null
  const layout = source.options.find(({ name }, place) => {
    return name === null ? place === 0 : /^(?:cl|channel_layout)$/.test(name)
  })
  return layout ? (LAYOUTS[layout.value] ?? null) : 2
}

const LAYOUTS: Record<string, number> = { mono: 1, stereo: 2, "5.1": 6, "7.1": 8 }

function readFile(file: ReadFile, probes: Probes): Input {
  const streams = streamsOf(file, probes)
  // Texts are read once, however often they are to be repeated.
  const isText = streams?.every(({ medium }) => medium === "S") === true
  return { streams, fate: isText ? null : fateOf(file, probes) }
}

function fateOf(file: ReadFile, probes: Probes): Fate {
  const times = lastValue(file, "stream_loop")
  if (times !== null && isRepeatedForEver(Number(times), probes.get(file.word)?.duration)) {
    const why = Number(times) < 0 ? "without end" : `for more than ${LASTING_HOURS} hours`
    return { option: "-stream_loop", why: `it repeats its input ${why}`, mend: null }
  }
  if (/^(?:1|true|on|yes)$/.test(lastValue(file, "loop") ?? "")) {
    return { option: "-loop", why: "it repeats a picture without end", mend: null }
  }
  if (/^(?:0|false|off|no)$/.test(lastValue(file, "ignore_loop") ?? "")) {
    const why = "it repeats pictures that move as their file says, which is without end mostly"
    return { option: "-ignore_loop", why, mend: "leave it out" }
  }
  return null
}

function streamsOf(file: ReadFile, probes: Probes): InputStream[] | null {
  const probe = probes.get(file.word)
  const format = lastValue(file, "f")
  if (format !== null) return format === "image2" ? [{ medium: "V", weight: null }] : null
  if (probe) return probe.streams.length === 0 ? null : probe.streams.map(readStream)
  if (isTextName(file.word)) return [{ medium: "S", weight: null }]
  if (SOUND_NAME.test(file.word)) return [{ medium: "A", weight: null }]
  return PICTURE_NAME.test(file.word) ? [{ medium: "V", weight: null }] : null
}

type ProbedStream = ProbeResult["streams"][number]

const MEDIA = new Map<unknown, string>([
  ["video", "V"],
  ["audio", "A"],
  ["subtitle", "S"],
])

function readStream(stream: ProbedStream): InputStream {
  const medium = MEDIA.get(stream["codec_type"]) ?? "D"
  if (medium === "A") return { medium, weight: numberOf(stream["channels"]) }
  const { width, height } = stream
  if (medium !== "V" || isAttached(stream)) return { medium, weight: 1 }
  const [w, h] = [numberOf(width), numberOf(height)]
  return { medium, weight: w !== null && h !== null ? w * h : null }
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null
}
