import {
  isStdout,
  isTextFileName,
  findLastOptionValue,
  computeTrimmedSeconds,
} from "./command-line.ts"
import type { ParsedCommand, CommandFile, CommandOption } from "./command-line.ts"
import { formatSecondsForMessage, parseFfmpegTime } from "./media-time.ts"
import { findOptionValueKind } from "./policy/options.ts"

/** Option `-ss` of an ffmpeg command whose time is past the end of the media. */
export type SeekPastEnd = {
  value: string
  /** Name of the input that ends before the time of `-ss`; null if several inputs end before it. */
  input: string | null
  /**
   * Name of the output to which the option `-ss` belongs; null if the option belongs to an input.
   */
  output: string | null
}

/**
 * Position of an option `-ss` in a command: before an input or before an output. Before an output,
 * `-ss` drops frames that ffmpeg has read, so that its time counts from the first of these frames.
 */
export type SeekPosition = "input" | "output"

/**
 * Input options that change neither the length nor the timestamps of an input. Inputs with any
 * other option are skipped, since many demuxer options, such as `-ignore_editlist`, change the
 * length or the timestamps.
 */
const HARMLESS_OPTIONS = new Set(
  [
    "ss t to an vn sn dn c codec vcodec acodec scodec dcodec map threads filter_threads",
    "y n hide_banner stats nostats stdin nostdin v loglevel stats_period accurate_seek",
    "noaccurate_seek autorotate noautorotate hwaccel re thread_queue_size probesize",
    "analyzeduration report benchmark xerror max_error_rate filter_complex lavfi",
    "filter_complex_threads copyts start_at_zero",
  ]
    .join(" ")
    .split(" "),
)
/**
 * Finds options `-ss` with times past the end of the inputs. `lengthOf` returns the duration of an
 * input in seconds; null if the duration is uncertain. The duration may depend on the position of
 * `-ss`, before an input or before an output.
 */
export function findSeeksPastEnd(
  command: ParsedCommand,
  lengthOf: (name: string, position: SeekPosition) => number | null,
): SeekPastEnd[] {
  const inputs = command.files.filter(({ kind }) => kind === "input")
  function secondsOf(file: CommandFile, position: SeekPosition): number | null {
    return hasCertainLength(file) ? lengthOf(file.word, position) : null
  }
  const early = inputs.flatMap((file) => {
    const value = findSeekPastEnd(file, secondsOf(file, "input"))
    return value === null ? [] : [{ value, input: file.word, output: null }]
  })
  // The `-ss` of an output applies to the part of the input that the input's own options select.
  // The check is possible only if neither a filter nor `-copyts` changes the timestamps.
  if (early.length > 0 || allOptions(command).some(changesTimestamps)) return early
  const ends = inputs.map((file) => {
    const seconds = secondsOf(file, "output")
    return seconds === null ? null : computeTrimmedSeconds(file, seconds)
  })
  const knownEnds = ends.filter((end) => end !== null)
  const end = knownEnds.length === ends.length ? Math.max(...knownEnds) : null
  const input = inputs.length === 1 ? (inputs[0]?.word ?? null) : null
  return command.files.filter(isMediaOutput).flatMap((file) => {
    const value = findSeekPastEnd(file, end)
    return value === null ? [] : [{ value, input, output: file.word }]
  })
}

/**
 * Returns the beginning of a sentence about a seek past the end of the media. `lengths` contains
 * the durations of inputs in seconds, by name.
 */
export function describeSeekPastEnd(
  { value, input }: SeekPastEnd,
  lengths: ReadonlyMap<string, number>,
): string {
  if (input === null) return `-ss ${value} is past the end of every input`
  const seconds = lengths.get(input)
  const length = seconds === undefined ? "" : ` (${formatSecondsForMessage(seconds)} long)`
  return `-ss ${value} is past the end of ${input}${length}`
}

/**
 * Returns the value of a file's option `-ss` if the time is at or after `endSeconds`; otherwise
 * null.
 */
function findSeekPastEnd(file: CommandFile, endSeconds: number | null): string | null {
  const value = findLastOptionValue(file, "ss")
  const seconds = value === null ? null : parseFfmpegTime(value)
  if (seconds === null || endSeconds === null || endSeconds <= 0) return null
  return seconds >= endSeconds ? value : null
}

function isMediaOutput(file: CommandFile): boolean {
  const format = findLastOptionValue(file, "f")
  if (file.kind !== "output" || isStdout(file.word) || file.word.startsWith("/dev/")) return false
  return format !== "null" && format !== "ffmetadata" && !isTextFileName(file.word)
}

function hasCertainLength({ options }: CommandFile): boolean {
  return options.every(({ name }) => HARMLESS_OPTIONS.has(name))
}

function changesTimestamps({ name }: CommandOption): boolean {
  const kind = findOptionValueKind(name)
  return kind === "graph" || kind === "graph-file" || name === "copyts"
}

function allOptions({ files, trailing }: ParsedCommand): CommandOption[] {
  return [...files.flatMap(({ options }) => options), ...trailing]
}
