import { parseTime } from "../../../src/contract/media-time.ts"
import { valueOf } from "./read-graph.ts"
import type { FilterValues } from "./read-graph.ts"
import { selectedOf, timesOf } from "./expressions.ts"
import { cut, inSequence, longest, mapTimes, shortest, spanOf } from "./span.ts"
import type { Length, Span } from "./span.ts"

type Rule = (values: FilterValues, inputs: readonly Length[]) => Length

/** How long what a filter makes is; those that are not here keep the length of what they read. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["concat", concat],
  ["setpts", ofOne((values, span) => timesOf(valueOf(values, "expr", 0), span))],
  ["asetpts", ofOne((values, span) => timesOf(valueOf(values, "expr", 0), span))],
  ["select", ofOne((values, span) => selectedOf(valueOf(values, "expr e", 0), span))],
  ["aselect", ofOne((values, span) => selectedOf(valueOf(values, "expr e", 0), span))],
  ["trim", ofOne(trim)],
  ["atrim", ofOne(trim)],
  ["atempo", ofOne((values, span) => faster(span, numberOf(valueOf(values, "tempo", 0))))],
  ["rubberband", ofOne((values, span) => faster(span, numberOf(valueOf(values, "tempo") ?? "1")))],
  [
    "asetrate",
    ofOne((values, span) => faster(span, rateFactor(valueOf(values, "sample_rate r", 0)))),
  ],
  ["tpad", ofOne(padFrames)],
  ["apad", ofOne(padSound)],
  ["adelay", ofOne(delay)],
  ["loop", repeat],
  ["aloop", repeat],
  ["zoompan", zoom],
  ["xfade", (values, [one = null, other = null]) => overlap(one, other, crossing(values))],
  ["acrossfade", (values, [one = null, other = null]) => overlap(one, other, fading(values))],
  ...["palettegen", "showwavespic", "showspectrumpic", "movie", "amovie"].map(
    (name): [string, Rule] => [name, () => null],
  ),
  ...["silenceremove", "segment", "asegment"].map((name): [string, Rule] => [
    name,
    () => "unknown",
  ]),
])

const SOURCE =
  /^(?:color|colorchart|colorspectrum|sine|mandelbrot|life|cellauto|gradients|sierpinski|allrgb|allyuv|hilbert|sinc|zoneplate|movie|amovie|smpte(?:hd)?bars|pal\d+bars|\w*test(?:src)?\d?|\w*src)$/

const SOUND =
  /^(?:a(?!lpha|mplify|vgblur|ss$|tadenoise|ddroi|llrgb|llyuv)\w+|volume|loudnorm|dynaudnorm|speechnorm|ebur128|silence\w+|pan|join|channel\w+|(?:high|low|band)pass|bass|treble|equalizer|sine|rubberband|stereo\w+|extrastereo|crossfeed|haas|earwax|flanger|chorus|tremolo|vibrato|compand|sidechain\w+|replaygain|show\w+|dialoguenhance|firequalizer|sofalizer|headphone|surround|hdcd|dcshift|crystalizer|drmeter|sinc)$/

/** More inputs are not counted. */
const COUNT_MAX = 100

/** What makes pictures of sound. */
const SHOWN_SOUND = /^(?:show\w+|avectorscope|ahistogram|aphasemeter|abitscope|a3dscope)$/

/** How many streams filters read that read more than one. */
const PADS: ReadonlyMap<string, (values: FilterValues) => number> = new Map([
  ...words("overlay xfade acrossfade blend alphamerge paletteuse psnr ssim libvmaf haldclut").map(
    (name) => [name, () => 2] as const,
  ),
  ...words("sidechaincompress sidechaingate scale2ref displace lut2 msad identity").map(
    (name) => [name, () => 2] as const,
  ),
  ...words("amix amerge hstack vstack xstack mix join interleave ainterleave").map(
    (name) => [name, inputsOf] as const,
  ),
  ["concat", (values) => countOf(values, "n", 2) * streamsOf(values)],
])

/** Whether a filter reads nothing. */
export function isSource(name: string): boolean {
  return SOURCE.test(name)
}

/** Whether what a filter reads at one of its pads is sound. */
export function readsSound(name: string, values: FilterValues, pad: number): boolean {
  if (name === "concat") return pad % streamsOf(values) >= countOf(values, "v", 1)
  return SOUND.test(name)
}

/** Whether what a filter makes at one of its pads is sound. */
export function makesSound(name: string, values: FilterValues, pad: number): boolean {
  if (name === "concat") return pad >= countOf(values, "v", 1)
  return SOUND.test(name) && !SHOWN_SOUND.test(name)
}

/** How many streams a filter reads. */
export function padsOf(name: string, values: FilterValues): number {
  return isSource(name) ? 0 : (PADS.get(name)?.(values) ?? 1)
}

/** How long what a filter makes is. */
export function lengthAfter(name: string, values: FilterValues, inputs: readonly Length[]): Length {
  const rule = RULES.get(name)
  if (rule) return rule(values, inputs)
  if (isSource(name)) return sourceOf(values)
  const isShort =
    valueOf(values, "shortest") === "1" ||
    valueOf(values, "duration") === "shortest" ||
    valueOf(values, "eof_action") === "endall"
  if (isShort) return shortest(inputs)
  if (valueOf(values, "duration") === "first") return inputs[0] ?? null
  return longest(inputs)
}

/** A rule for what has a length of its own; any other stays as it is. */
function ofOne(rule: (values: FilterValues, span: Span) => Length): Rule {
  return (values, [input = null]) =>
    input === null || input === "unknown" ? input : rule(values, input)
}

function sourceOf(values: FilterValues): Length {
  const written = valueOf(values, "duration d")
  if (written === undefined) return spanOf(Infinity)
  const seconds = parseTime(written)
  return seconds === null ? "unknown" : spanOf(seconds)
}

/** Its streams stand segment by segment; the longest of a segment counts. */
function concat(values: FilterValues, inputs: readonly Length[]): Length {
  const each = streamsOf(values)
  const segments = Math.floor(inputs.length / each)
  if (segments === 0) return longest(inputs)
  const lengths = Array.from({ length: segments }, (_, at) =>
    longest(inputs.slice(at * each, (at + 1) * each)),
  )
  return lengths.every((length) => length === null) ? null : inSequence(lengths)
}

function inputsOf(values: FilterValues): number {
  const name = ["inputs", "n", "nb_inputs"].find((each) => values.named.has(each)) ?? "inputs"
  return countOf(values, name, 2)
}

function streamsOf(values: FilterValues): number {
  return Math.max(1, countOf(values, "v", 1) + countOf(values, "a", 0))
}

function trim(values: FilterValues, span: Span): Length {
  const isByFrames = [...values.named.keys()].some((name) => /_(?:frame|pts|sample)$/.test(name))
  if (isByFrames) return "unknown"
  const from = secondsOf(valueOf(values, "start starti", 0), span.start)
  const to = secondsOf(valueOf(values, "end endi", 1), Infinity)
  const most = secondsOf(valueOf(values, "duration durationi"), Infinity)
  if (from === null || to === null || most === null) return "unknown"
  return cut(span, from, Math.min(to, Math.max(span.start, from) + most))
}

function faster(span: Span, factor: number): Length {
  return factor > 0 ? mapTimes(span, (seconds) => seconds / factor) : "unknown"
}

/** The factor of `44100*1.25`, where the first number is the rate that the sound had. */
function rateFactor(text = ""): number {
  return numberOf(/^\s*\d+\s*\*\s*([\d./]+)\s*$/.exec(text)?.[1])
}

function padFrames(values: FilterValues, span: Span): Length {
  if (valueOf(values, "stop") === "-1") return { ...span, end: Infinity, kept: Infinity }
  const before = secondsOf(valueOf(values, "start_duration"), 0)
  const behind = secondsOf(valueOf(values, "stop_duration"), 0)
  if (before === null || behind === null) return "unknown"
  return grown(span, before + behind)
}

function padSound(values: FilterValues, span: Span): Length {
  const by = secondsOf(valueOf(values, "pad_dur"), 0)
  const whole = secondsOf(valueOf(values, "whole_dur"), 0)
  if (by === null || whole === null) return "unknown"
  if (by > 0) return grown(span, by)
  if (whole > 0) return grown(span, Math.max(0, whole - span.end))
  return /_len/.test([...values.named.keys()].join(" ")) ? "unknown" : grown(span, Infinity)
}

/** In milliseconds where nothing else is written, for each channel. */
function delay(values: FilterValues, span: Span): Length {
  const delays = (valueOf(values, "delays", 0) ?? "0").split("|").map((text) => {
    const [, number, unit] = /^(\d+(?:\.\d+)?)(s?)$/.exec(text.trim()) ?? []
    return Number(number) / (unit === "s" ? 1 : 1000)
  })
  const most = Math.max(...delays)
  return Number.isNaN(most) ? "unknown" : grown(span, most)
}

function grown(span: Span, seconds: number): Span {
  return { ...span, end: span.end + seconds, kept: span.kept + seconds }
}

function repeat(values: FilterValues): Length {
  return valueOf(values, "loop", 0) === "-1" ? spanOf(Infinity) : "unknown"
}

/** A picture becomes `d` frames; each of a video does where `d` is not 1. */
function zoom(values: FilterValues, [input = null]: readonly Length[]): Length {
  const frames = numberOf(valueOf(values, "d") ?? "90")
  const rate = numberOf(valueOf(values, "fps") ?? "25")
  if (frames === 1) return input
  if (input === null && frames > 0 && rate > 0) return spanOf(frames / rate)
  return input !== null && input !== "unknown" && input.end === Infinity ? input : "unknown"
}

/** One that passes into another, which begins at a moment of the first. */
function overlap(one: Length, other: Length, beginOf: (end: number) => number | null): Length {
  if (one === null || one === "unknown" || other === null || other === "unknown") return "unknown"
  const begin = beginOf(one.end)
  return begin === null ? "unknown" : spanOf(begin + other.end)
}

function crossing(values: FilterValues) {
  return () => secondsOf(valueOf(values, "offset", 2), 0)
}

function fading(values: FilterValues) {
  const seconds = secondsOf(valueOf(values, "duration d"), 1)
  return (end: number) => (seconds === null ? null : Math.max(0, end - seconds))
}

function secondsOf(text: string | undefined, otherwise: number): number | null {
  return text === undefined ? otherwise : parseTime(text)
}

function countOf(values: FilterValues, name: string, otherwise: number): number {
  const count = Number(valueOf(values, name) ?? otherwise)
  return Number.isInteger(count) && count >= 0 && count <= COUNT_MAX ? count : otherwise
}

/** A number, or a quotient of two; NaN for anything else. */
function numberOf(text: string | undefined): number {
  const [, above, below = "1"] = /^(\d*\.?\d+)(?:\/(\d*\.?\d+))?$/.exec(text ?? "") ?? []
  return above === undefined ? Number.NaN : Number(above) / Number(below)
}

function words(text: string): string[] {
  return text.split(" ")
}
