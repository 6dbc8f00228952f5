import { expectedSeconds } from "./expected-duration.ts"
import { parseTime } from "./media-time.ts"

/** Follows one run of ffmpeg by what it says; fractions go from 0 to 1. */
export type ProgressReader = {
  /** A line of `-progress`; the fraction done, or null where the line does not tell. */
  readProgress(line: string): number | null
  /** A line of stderr, which names the lengths of inputs that nobody knew before. */
  readStderr(line: string): void
}

const INPUTS_MAX = 64

/** Reads the progress of a command; `known` are the lengths of inputs by name, in seconds. */
export function openProgressReader(
  words: readonly string[],
  known: ReadonlyMap<string, number>,
): ProgressReader {
  const told = new Map<number, number>()
  let inputIndex = -1
  let expected = estimate()
  function estimate(): number | null {
    return expectedSeconds(words, (name, index) => known.get(name) ?? told.get(index) ?? null)
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
      // A command has no more inputs, and says each length once; what says more is not ffmpeg.
      if (seconds === null || told.has(inputIndex) || told.size >= INPUTS_MAX) return
      told.set(inputIndex, seconds)
      expected = estimate()
    },
  }
}

function secondsDone(line: string): number | null {
  const microseconds = /^out_time_us=(\d+)$/.exec(line)?.[1]
  if (microseconds !== undefined) return Number(microseconds) / 1e6
  return parseTime(/^out_time=(.*)$/.exec(line)?.[1])
}
