import { parseTime } from "../../src/contract/media-time.ts"

/** Reads the progress of one ffmpeg process from its output; fractions go from 0 to 1. */
export type ProgressReader = {
  /** Reads a line of `-progress`; returns the fraction done, or null where it has none. */
  readProgress(line: string): number | null
  /** Reads a line of stderr, which prints the durations of inputs. */
  readStderr(line: string): void
}

const INPUTS_MAX = 64

/** Duration of an input in seconds by its name and its index among the inputs; null if unknown. */
export type DurationOf = (name: string, index: number) => number | null

type Options = Map<string, string>

const TIMED = new Set(["-ss", "-t", "-to", "-loop", "-stream_loop"])

/** Opens a reader for a command; `known` are the durations of inputs by name, in seconds. */
export function openProgressReader(
  argv: readonly string[],
  known: ReadonlyMap<string, number>,
): ProgressReader {
  const printed = new Map<number, number>()
  let inputIndex = -1
  let expected = estimate()
  function estimate(): number | null {
    return expectedSeconds(argv, (name, index) => known.get(name) ?? printed.get(index) ?? null)
  }
  return {
    readProgress(line) {
      if (line === "progress=end") return 1
      const seconds = secondsDone(line)
      return seconds === null || expected === null ? null : Math.min(1, seconds / expected)
    },
    readStderr(line) {
      const input = /^Input #(\d+), /.exec(line)
      if (input) inputIndex = Number(input[1])
      const seconds = parseTime(/^ {2}Duration: ([\d:.]+)/.exec(line)?.[1])
      // ffmpeg prints each duration once; further lines are not its own.
      if (seconds === null || printed.has(inputIndex) || printed.size >= INPUTS_MAX) return
      printed.set(inputIndex, seconds)
      expected = estimate()
    },
  }
}

function secondsDone(line: string): number | null {
  const microseconds = /^out_time_us=(\d+)$/.exec(line)?.[1]
  if (microseconds !== undefined) return Number(microseconds) / 1e6
  return parseTime(/^out_time=(.*)$/.exec(line)?.[1])
}

/**
 * Estimates how many seconds of media a command makes: the longest input (with -shortest, the
 * shortest) less what -ss skips, limited by -t and -to. Null if unknown.
 */
export function expectedSeconds(argv: readonly string[], durationOf: DurationOf): number | null {
  const lengths: (number | null)[] = []
  const outputs: Options[] = []
  let options: Options = new Map()
  for (const [index, word] of argv.entries()) {
    const value = argv[index + 1] ?? ""
    if (word === "-i") {
      lengths.push(inputSeconds(options, durationOf(value, lengths.length) ?? lavfiSeconds(value)))
      options = new Map()
      outputs.length = 0
    } else if (TIMED.has(word)) {
      if (options.has(word)) outputs.push(options)
      options = new Map([...(options.has(word) ? [] : options), [word, value]])
    }
  }
  outputs.push(options)
  const known = lengths.filter((length) => length !== null)
  const pick = argv.includes("-shortest") ? Math.min : Math.max
  const whole = known.length > 0 ? pick(...known) : Infinity
  const longest = Math.max(...outputs.map((each) => within(each, whole)))
  return Number.isFinite(longest) && longest > 0 ? longest : null
}

function inputSeconds(options: Options, length: number | null): number | null {
  const repeats = options.get("-loop") === "1" || options.has("-stream_loop")
  const seconds = within(options, repeats ? Infinity : (length ?? Infinity))
  return length === null && seconds === Infinity && !repeats ? null : seconds
}

/** What is left of a duration after -ss, limited by -t, or by -to without -t. */
function within(options: Options, length: number): number {
  const from = parseTime(options.get("-ss")) ?? 0
  const to = parseTime(options.get("-to"))
  const most = parseTime(options.get("-t")) ?? (to === null ? Infinity : to - from)
  return Math.max(0, Math.min(length - from, most))
}

function lavfiSeconds(source: string): number | null {
  const times = Array.from(source.matchAll(/[=:](?:d|duration)=([^:,;[\]]+)/g), ([, text]) =>
    parseTime(text),
  ).filter((seconds) => seconds !== null)
  return times.length > 0 ? Math.max(...times) : null
}
