import { listAllOptions, findLastOptionValue } from "./command-line.ts"
import type { ParsedCommand, CommandFile } from "./command-line.ts"

/**
 * Input or filter of an ffmpeg command that never ends: its name, the cause, the remedy, and its
 * medium. The medium is `v` for video, `a` for audio, or null if both are possible.
 */
export type EndlessSource = {
  name: string
  reason: string
  remedy: string
  medium: "v" | "a" | null
}

/** Matches lavfi sources that never end unless a duration is given. */
const SOURCES =
  /(?:^|[,;\]])\s*(a?nullsrc|anoisesrc|aevalsrc|sine|color|testsrc2?|smpte(?:hd)?bars|(?:rgb|yuv|mp)testsrc|pal(?:75|100)bars|allrgb|allyuv|haldclutsrc|gradients|sierpinski|perlin|zoneplate|colorchart|colorspectrum|mandelbrot|life|cellauto)(?![\w.])([^,;[]*)/g
/**
 * Matches options that end a lavfi source: a duration, or at least three positional values, one of
 * which is the duration. A duration of eight digits or more counts as endless.
 */
const HAS_DURATION = /\b(?:d|duration)=(?!\d{8})|=(?:[^:=]*:){2}[^:=]/
const SOUND_SOURCE = /^(?:anullsrc|anoisesrc|aevalsrc|sine)$/
/** Matches lavfi sources for which a duration of 0 means that the source never ends. */
const ZERO_IS_ENDLESS = /^(?:sine|anoisesrc)$/
/**
 * Matches a trim filter that ends its source. A trim filter with only `start` does not end the
 * source.
 */
const IS_TRIMMED = /trim=(?!start=[\d.]+(?:[,;[]|$))/
/** Matches file names of images and of image sequences. */
const PICTURE_NAME = /\.(?:png|jpe?g|webp|bmp|tiff?|gif|avif|heic|jp2|ppm|tga)$/i
const GRAPH_NAMES = /^(?:vf|af|filter|filter_complex|lavfi)$/

/**
 * Filters that extend their input endlessly, with patterns that match them in the text of a filter
 * graph.
 */
const EXTENDING_FILTERS: readonly { pattern: RegExp; reason: string; remedy: string }[] = [
  {
    pattern: /\b(apad)(?![\w])(?!=[^,;[]*(?:dur|len|\d))/,
    reason: "it adds endless silence",
    remedy: "set a length, as in apad=whole_dur=10",
  },
  {
    pattern: /\b(apad)=(?:packet_size=)?\d+(?![\w.:])/,
    reason: "it adds endless silence",
    remedy: "set a length, as in apad=whole_dur=10",
  },
  {
    pattern: /\b(a?loop)=(?:loop=)?-1\b/,
    reason: "the count -1 repeats its input forever",
    remedy: "set a count, as in loop=3",
  },
  {
    pattern: /\b(tpad)=(?:[^,;[]*:)?(?:stop=)?-1\b/,
    reason: "it adds endless frames",
    remedy: "set a length, as in tpad=stop_duration=5",
  },
  {
    pattern: /\b(a?movie)=[^,;[]*\bloop=0\b/,
    reason: "loop=0 repeats its file forever",
    remedy: "remove loop=0",
  },
  {
    pattern: /\b(apad|a?loop|tpad|zoompan)=[^,;[]*\d{8}/,
    reason: "it lasts longer than any job may run",
    remedy: "use a smaller number",
  },
]

/** Returns the endless inputs and filters of a command. */
export function findEndlessSources(command: ParsedCommand): EndlessSource[] {
  const graphs = listAllOptions(command).filter(({ name }) => GRAPH_NAMES.test(name))
  return [
    ...command.files.flatMap((file) => findEndlessInput(file) ?? []),
    ...command.files.flatMap(({ kind, word }) =>
      kind === "input" ? findExtendingFilters(word) : [],
    ),
    ...graphs.flatMap(({ value }) => [
      ...findEndlessGraphSources(value ?? ""),
      ...findExtendingFilters(value ?? ""),
    ]),
  ]
}

/**
 * Returns a sentence about endless inputs, which is appended to the message of a timeout. Returns
 * an empty text if no input is endless.
 */
export function describeEndlessSources(endless: readonly EndlessSource[]): string {
  if (endless.length === 0) return ""
  const causes = endless.slice(0, SHOWN_MAX).map(({ name, reason, remedy }) => {
    return `${name} is endless, because ${reason} (${remedy})`
  })
  return ` The command may never end: ${causes.join("; ")}. Write -t with the seconds before the output, use -shortest to end with the shortest stream, or set shortest=1 in a filter that joins streams, as in overlay=shortest=1.`
}

const SHOWN_MAX = 3

/** Describes why an input is endless. Returns null if the input is not certainly endless. */
export function findEndlessInput(file: CommandFile): EndlessSource | null {
  const { kind, word } = file
  if (
    kind !== "input" ||
    findLastOptionValue(file, "t") !== null ||
    findLastOptionValue(file, "to") !== null
  ) {
    return null
  }
  const name = `the input "${word}"`
  const times = findLastOptionValue(file, "stream_loop") ?? ""
  if (/^(?:-\d|\d{8})/.test(times)) {
    const remedy = "use a smaller count, as in -stream_loop 3"
    return { name, reason: `-stream_loop ${times} repeats it forever`, remedy, medium: null }
  }
  const isPicture = PICTURE_NAME.test(word) || findLastOptionValue(file, "f") === "image2"
  if (findLastOptionValue(file, "loop") === "1" && isPicture) {
    return {
      name,
      reason: "-loop 1 repeats it forever",
      remedy: "write -t with the seconds before its -i",
      medium: "v",
    }
  }
  if (findLastOptionValue(file, "ignore_loop") === "0" && /\.gif$/i.test(word)) {
    return {
      name,
      reason: "-ignore_loop 0 repeats it forever",
      remedy: "remove -ignore_loop",
      medium: "v",
    }
  }
  return findLastOptionValue(file, "f") === "lavfi"
    ? (findEndlessGraphSources(word)[0] ?? null)
    : null
}

function findEndlessGraphSources(graph: string): EndlessSource[] {
  return Array.from(graph.matchAll(SOURCES), ([, source = "", values = ""]) => ({ source, values }))
    .filter(({ source, values }) => {
      const isZero = ZERO_IS_ENDLESS.test(source) && /\b(?:d|duration)=0(?![.\d])/.test(values)
      return (isZero || !HAS_DURATION.test(values)) && !IS_TRIMMED.test(graph)
    })
    .map(({ source }) => ({
      name: `the source ${source}`,
      reason: "it generates frames forever",
      remedy: /^(?:mandelbrot|life|cellauto)$/.test(source)
        ? "write -t with the seconds before its -i"
        : `set an end, as in ${source}=duration=5`,
      medium: findSourceMedium(source, graph),
    }))
}

/**
 * Returns the medium of a graph with a lavfi source: `v` for video, `a` for audio. Returns null for
 * a graph with labels or several chains, which may have both.
 */
function findSourceMedium(source: string, graph: string): "v" | "a" | null {
  if (/[[;]/.test(graph)) return null
  return SOUND_SOURCE.test(source) ? "a" : "v"
}

function findExtendingFilters(graph: string): EndlessSource[] {
  return EXTENDING_FILTERS.flatMap(({ pattern, reason, remedy }) => {
    const filter = pattern.exec(graph)?.[1]
    return filter === undefined
      ? []
      : [{ name: `the filter ${filter}`, reason, remedy, medium: null }]
  })
}
