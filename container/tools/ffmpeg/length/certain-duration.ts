import {
  listAllOptions,
  findMapValues,
  findLastOptionValue,
  parseFfmpegCommand,
} from "../../../../src/ffmpeg/command-line.ts"
import type { CommandFile } from "../../../../src/ffmpeg/command-line.ts"
import { parseFfmpegTime } from "../../../../src/ffmpeg/media-time.ts"

/**
 * Function that returns the duration of an input, in seconds, by the name and index of the input.
 * Returns null for an input without a duration, such as a picture.
 */
export type InputSecondsGetter = (name: string, index: number) => number | null

const GRAPH_NAMES = /^(?:vf|af|filter|filter_complex|filter_complex_script|lavfi|\/.*)$/
/**
 * Matches filters that change the duration of their input, or delay its start by more than a
 * second.
 */
const RETIMING_FILTERS =
  /(?:^|[[\],;])\s*(?:a?setpts(?!=PTS(?:-STARTPTS|[+-]0\.\d+\/TB)(?![^,;[]))|a?trim|a?select|atempo|rubberband|asetrate|tpad|apad|adelay|a?loop|zoompan|xfade|acrossfade|concat|palettegen|show\w+pic|a?segment|silenceremove|mpdecimate|decimate|framestep|minterpolate|tile|thumbnail|a?reverse|\w*src2?|color|sine|smpte\w+|mandelbrot|life|cellauto)(?![a-z])/
/** Largest relative difference of two input durations that count as equal. */
const LENGTH_TOLERANCE = 0.05

/**
 * Computes the duration of the longest output of an ffmpeg command, in seconds. The duration
 * follows from `-t` and `-to`, or else from the durations of the inputs without the part that `-ss`
 * skips. Returns null if the duration is uncertain, because of inputs with different durations,
 * filters that change the duration, or an endless input.
 */
export function computeCertainOutputSeconds(
  argv: readonly string[],
  secondsOf: InputSecondsGetter,
): number | null {
  const command = parseFfmpegCommand(argv)
  const inputs = command.files
    .filter(({ kind }) => kind === "input")
    .map((file, index) => inputSeconds(file, secondsOf(file.word, index)))
  const isRetimed = listAllOptions(command).some(({ name, value }) => {
    return GRAPH_NAMES.test(name) && (name.startsWith("/") || RETIMING_FILTERS.test(value ?? ""))
  })
  const lengths = command.files.flatMap((file) => {
    if (file.kind !== "output") return []
    return cut(file, isRetimed ? null : secondsOfUsedInputs(file, inputs))
  })
  const certain = lengths.filter((seconds) => seconds !== null).filter((seconds) => seconds > 0)
  return certain.length > 0 && certain.length === lengths.length ? Math.max(...certain) : null
}

/**
 * Returns the duration, in seconds, of an input after its options are applied. Returns Infinity for
 * an endless input, and null for an input without a duration.
 */
function inputSeconds(file: CommandFile, seconds: number | null): number | null {
  if (findLastOptionValue(file, "f") === "lavfi") {
    const durations = Array.from(file.word.matchAll(/\b(?:d|duration)=([^:,;[\]]+)/g))
    const [only, ...others] = durations.map(([, value]) => parseFfmpegTime(value))
    return cut(file, others.length === 0 ? (only ?? Infinity) : Infinity)
  }
  const times = Number(findLastOptionValue(file, "stream_loop") ?? 0)
  const isEndless =
    times < 0 ||
    findLastOptionValue(file, "loop") === "1" ||
    findLastOptionValue(file, "ignore_loop") === "0"
  // Treats the duration of concatenated files as uncertain, since their timestamps may start again.
  const own =
    file.word.startsWith("concat:") || findLastOptionValue(file, "f") === "concat" ? null : seconds
  return cut(file, isEndless ? Infinity : own && own * (times + 1))
}

/**
 * Returns the common duration, in seconds, of the inputs that an output uses. Returns null if the
 * duration is uncertain, for example because the inputs have different durations.
 */
function secondsOfUsedInputs(
  output: CommandFile,
  inputs: readonly (number | null)[],
): number | null {
  const numbers = findMapValues(output).map((map) => /^(\d+)(?::|\??$)/.exec(map)?.[1])
  const isAll = numbers.length === 0 || numbers.includes(undefined)
  const used = inputs.filter((_, index) => isAll || numbers.includes(String(index)))
  const lengths = used.filter((seconds) => seconds !== null)
  if (lengths.length === 0) return null
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)]
  const isShortest = output.options.some(({ name }) => name === "shortest")
  if (isShortest) return least < Infinity ? least : null
  return most < Infinity && most - least <= LENGTH_TOLERANCE * most ? most : null
}

/**
 * Returns the duration of a file, in seconds, after the file's options `-ss`, `-sseof`, `-t` and
 * `-to` are applied. `seconds` is the duration without these options; null if unknown.
 */
function cut(file: CommandFile, seconds: number | null): number | null {
  const fromEnd = parseFfmpegTime((findLastOptionValue(file, "sseof") ?? "").replace(/^-/, ""))
  const from = parseFfmpegTime(findLastOptionValue(file, "ss") ?? "0") ?? 0
  const to = parseFfmpegTime(findLastOptionValue(file, "to") ?? undefined)
  const bound = parseFfmpegTime(findLastOptionValue(file, "t") ?? undefined) ?? (to && to - from)
  if (seconds === null) return bound
  const left = fromEnd === null ? seconds - from : Math.min(seconds, fromEnd)
  return Math.max(0, Math.min(left, bound ?? Infinity))
}

/**
 * Maximum number of frames and bytes of a command's output, as limited by its options `-frames:v`
 * and `-fs`; null for no limit.
 */
type OutputBounds = { frames: number | null; bytes: number | null }

/**
 * Parses the limits of frames and bytes of a command's only output. Returns null for both limits if
 * there are several outputs, since the progress reports of ffmpeg count frames and bytes only for
 * the first output.
 */
export function parseOutputLimits(argv: readonly string[]): OutputBounds {
  const [output, ...others] = parseFfmpegCommand(argv).files.filter(({ kind }) => kind === "output")
  if (!output || others.length > 0) return { frames: null, bytes: null }
  const frames = output.options.findLast(({ word }) => FRAMES.test(word))
  return { frames: readBound(frames?.value), bytes: readBound(findLastOptionValue(output, "fs")) }
}

const FRAMES = /^-(?:vframes|frames(?::v(?::0)?)?)$/

function readBound(text: string | null | undefined): number | null {
  return /^[1-9]\d{0,14}$/.test(text ?? "") ? Number(text) : null
}
