import { isTextName, lastValue, secondsLeft } from "./command-line.ts"
import type { ReadCommand, ReadFile, ReadOption } from "./command-line.ts"
import { describeSeconds, parseTime } from "./media-time.ts"

/** A `-ss` behind the end of all that there is to read. */
export type LateSeek = {
  value: string
  /** The input that ends before it; null where several do. */
  input: string | null
  /** The output that the `-ss` stands before; null where it stands before an input. */
  output: string | null
}

/** Where a `-ss` stands: before an input, or before an output, which counts from what was read. */
export type SeekPlace = "input" | "output"

/**
 * Options before an input that leave its length and its times as they are. One with any other is
 * not judged: demuxers have many that do not, such as `-ignore_editlist`.
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
const FILTER_OPTIONS = new Set("vf af filter filter_complex lavfi".split(" "))
/**
 * Finds where a command seeks behind the end of what it reads; `lengthOf` answers how many seconds
 * an input lasts for a seek at this place, null where that is not certain.
 */
export function findLateSeeks(
  command: ReadCommand,
  lengthOf: (name: string, place: SeekPlace) => number | null,
): LateSeek[] {
  const inputs = command.files.filter(({ kind }) => kind === "input")
  function secondsOf(file: ReadFile, place: SeekPlace): number | null {
    return isJudged(file) ? lengthOf(file.word, place) : null
  }
  const early = inputs.flatMap((file) => {
    const value = lateSeekOf(file, secondsOf(file, "input"))
    return value === null ? [] : [{ value, input: file.word, output: null }]
  })
  // What an output seeks in is what its inputs leave, unless filters make something else of it.
  if (early.length > 0 || allOptions(command).some(isShifting)) return early
  const ends = inputs.map((file) => {
    const seconds = secondsOf(file, "output")
    return seconds === null ? null : secondsLeft(file, seconds)
  })
  const known = ends.filter((end) => end !== null)
  const end = known.length === ends.length ? Math.max(...known) : null
  const input = inputs.length === 1 ? (inputs[0]?.word ?? null) : null
  return command.files.filter(isMediaOutput).flatMap((file) => {
    const value = lateSeekOf(file, end)
    return value === null ? [] : [{ value, input, output: file.word }]
  })
}

/** A late seek as the begin of a sentence; `lengths` are those of inputs by name, in seconds. */
export function describeLateSeek(
  { value, input }: LateSeek,
  lengths: ReadonlyMap<string, number>,
): string {
  if (input === null) return `-ss ${value} lies behind the end of every input`
  const seconds = lengths.get(input)
  const length = seconds === undefined ? "" : `, which lasts ${describeSeconds(seconds)}`
  return `-ss ${value} lies behind the end of ${input}${length}`
}

/** The value of a file's `-ss` where it lies behind this end. */
function lateSeekOf(file: ReadFile, endSeconds: number | null): string | null {
  const value = lastValue(file, "ss")
  const seconds = value === null ? null : parseTime(value)
  if (seconds === null || endSeconds === null || endSeconds <= 0) return null
  return seconds >= endSeconds ? value : null
}

function isMediaOutput(file: ReadFile): boolean {
  const format = lastValue(file, "f")
  if (file.kind !== "output" || file.word === "-" || file.word.startsWith("/dev/")) return false
  return format !== "null" && format !== "ffmetadata" && !isTextName(file.word)
}

function isJudged({ options }: ReadFile): boolean {
  return options.every(({ name }) => HARMLESS_OPTIONS.has(name))
}

function isShifting({ name }: ReadOption): boolean {
  return FILTER_OPTIONS.has(name) || name === "copyts"
}

function allOptions({ files, trailing }: ReadCommand): ReadOption[] {
  return [...files.flatMap(({ options }) => options), ...trailing]
}
