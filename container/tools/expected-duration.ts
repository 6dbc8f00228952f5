import { parseTime } from "./media-time.ts"

/** Length of an input in seconds by its name and place among the inputs; null if unknown. */
export type DurationOf = (name: string, index: number) => number | null

type Options = Map<string, string>

const TIMED = new Set(["-ss", "-t", "-to", "-loop", "-stream_loop"])

/**
 * How many seconds of media a command is going to make, as far as its words tell: the longest
 * input (with -shortest, the shortest) less what is skipped, within -t and -to. Null if unknown.
 */
export function expectedSeconds(words: readonly string[], durationOf: DurationOf): number | null {
  const lengths: (number | null)[] = []
  const outputs: Options[] = []
  let options: Options = new Map()
  for (const [index, word] of words.entries()) {
    const value = words[index + 1] ?? ""
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
  const pick = words.includes("-shortest") ? Math.min : Math.max
  const whole = known.length > 0 ? pick(...known) : Infinity
  const longest = Math.max(...outputs.map((each) => within(each, whole)))
  return Number.isFinite(longest) && longest > 0 ? longest : null
}

function inputSeconds(options: Options, length: number | null): number | null {
  const repeats = options.get("-loop") === "1" || options.has("-stream_loop")
  const seconds = within(options, repeats ? Infinity : (length ?? Infinity))
  return length === null && seconds === Infinity && !repeats ? null : seconds
}

/** What is left of a length from -ss on, within -t, or -to where there is no -t. */
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
