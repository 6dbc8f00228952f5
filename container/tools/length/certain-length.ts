import { allOptions, lastValue, mapsOf, readCommand } from "../../../src/contract/command-line.ts"
import type { ReadFile } from "../../../src/contract/command-line.ts"
import { parseTime } from "../../../src/contract/media-time.ts"

/** The length of an input by its name and its place; null of what has none of its own, as a picture. */
export type SecondsOf = (name: string, index: number) => number | null

const GRAPH_NAMES = /^(?:vf|af|filter|filter_complex|filter_complex_script|lavfi|\/.*)$/
/** Filters that make their media longer or shorter, or begin more than a second later. */
const BENDING =
  /(?:^|[[\],;])\s*(?:a?setpts(?!=PTS(?:-STARTPTS|[+-]0\.\d+\/TB)(?![^,;[]))|a?trim|a?select|atempo|rubberband|asetrate|tpad|apad|adelay|a?loop|zoompan|xfade|acrossfade|concat|palettegen|show\w+pic|a?segment|silenceremove|mpdecimate|decimate|framestep|minterpolate|tile|thumbnail|a?reverse|\w*src2?|color|sine|smpte\w+|mandelbrot|life|cellauto)(?![a-z])/
/** Lengths of inputs that play beside one another count as one where they differ by less than this share. */
const ALIKE = 0.05

/**
 * How long what a command writes is, in seconds: by `-t` and `-to`, and else by the length of its inputs
 * after `-ss`. Null where only the run tells that: several inputs of other lengths, filters that bend time,
 * and what has no end.
 */
export function certainSeconds(argv: readonly string[], secondsOf: SecondsOf): number | null {
  const command = readCommand(argv)
  const inputs = command.files
    .filter(({ kind }) => kind === "input")
    .map((file, index) => lengthOfInput(file, secondsOf(file.word, index)))
  const isBent = allOptions(command).some(({ name, value }) => {
    return GRAPH_NAMES.test(name) && (name.startsWith("/") || BENDING.test(value ?? ""))
  })
  const lengths = command.files.flatMap((file) => {
    if (file.kind !== "output") return []
    return cut(file, isBent ? null : lengthBeside(file, inputs))
  })
  const known = lengths.filter((seconds) => seconds !== null).filter((seconds) => seconds > 0)
  return known.length > 0 && known.length === lengths.length ? Math.max(...known) : null
}

/** What an input lasts, Infinity where it has no end; null where it has no length of its own. */
function lengthOfInput(file: ReadFile, seconds: number | null): number | null {
  if (lastValue(file, "f") === "lavfi") {
    const durations = Array.from(file.word.matchAll(/\b(?:d|duration)=([^:,;[\]]+)/g))
    const [only, ...others] = durations.map(([, value]) => parseTime(value))
    return cut(file, others.length === 0 ? (only ?? Infinity) : Infinity)
  }
  const times = Number(lastValue(file, "stream_loop") ?? 0)
  const isEndless =
    times < 0 || lastValue(file, "loop") === "1" || lastValue(file, "ignore_loop") === "0"
  // What `concat:` joins may begin anew, so that its length is none that can be added.
  const own = file.word.startsWith("concat:") || lastValue(file, "f") === "concat" ? null : seconds
  return cut(file, isEndless ? Infinity : own && own * (times + 1))
}

/** What the inputs last that an output takes, which play beside one another; null where that is not certain. */
function lengthBeside(output: ReadFile, inputs: readonly (number | null)[]): number | null {
  const numbers = mapsOf(output).map((map) => /^(\d+)(?::|\??$)/.exec(map)?.[1])
  const isAll = numbers.length === 0 || numbers.includes(undefined)
  const taken = inputs.filter((_, index) => isAll || numbers.includes(String(index)))
  const lengths = taken.filter((seconds) => seconds !== null)
  if (lengths.length === 0) return null
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)]
  const isShortest = output.options.some(({ name }) => name === "shortest")
  if (isShortest) return least < Infinity ? least : null
  return most < Infinity && most - least <= ALIKE * most ? most : null
}

/** What `-ss`, `-sseof`, `-t` and `-to` of a file leave of so many seconds, which may not be known. */
function cut(file: ReadFile, seconds: number | null): number | null {
  const fromEnd = parseTime((lastValue(file, "sseof") ?? "").replace(/^-/, ""))
  const from = parseTime(lastValue(file, "ss") ?? "0") ?? 0
  const to = parseTime(lastValue(file, "to") ?? undefined)
  const bound = parseTime(lastValue(file, "t") ?? undefined) ?? (to && to - from)
  if (seconds === null) return bound
  const left = fromEnd === null ? seconds - from : Math.min(seconds, fromEnd)
  return Math.max(0, Math.min(left, bound ?? Infinity))
}
