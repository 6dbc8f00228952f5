import { allOptions, lastValue } from "./command-line.ts"
import type { ReadCommand, ReadFile } from "./command-line.ts"

/**
 * An input or a filter without an end: its name, what makes it so, what would end it, and the letter of its
 * one medium, where it has one alone for certain.
 */
export type Endless = { name: string; why: string; mend: string; medium: "v" | "a" | null }

/** Sources of lavfi that go on for ever unless a duration is given. */
const SOURCES =
  /(?:^|[,;\]])\s*(a?nullsrc|anoisesrc|aevalsrc|sine|color|testsrc2?|smpte(?:hd)?bars|(?:rgb|yuv|mp)testsrc|pal(?:75|100)bars|allrgb|allyuv|haldclutsrc|gradients|sierpinski|perlin|zoneplate|colorchart|colorspectrum|mandelbrot|life|cellauto)(?![\w.])([^,;[]*)/g
/** Values by which a source ends: three without names have a duration, and of more digits none is seen. */
const HAS_DURATION = /\b(?:d|duration)=(?!\d{8})|=(?:[^:=]*:){2}[^:=]/
const SOUND_SOURCE = /^(?:anullsrc|anoisesrc|aevalsrc|sine)$/
/** Sources for which a duration of 0 is none. */
const ZERO_IS_NONE = /^(?:sine|anoisesrc)$/
/** A filter behind a source by which that ends. */
const IS_TRIMMED = /trim=(?!start=[\d.]+(?:[,;[]|$))/
/** Files that are one picture, or several that are counted. */
const PICTURE_NAME = /\.(?:png|jpe?g|webp|bmp|tiff?|gif|avif|heic|jp2|ppm|tga)$/i
const GRAPH_NAMES = /^(?:vf|af|filter|filter_complex|lavfi)$/

/** Filters that add to what they read without end, as a graph has them. */
const ADDING: readonly { pattern: RegExp; why: string; mend: string }[] = [
  {
    pattern: /\b(apad)(?![\w])(?!=[^,;[]*(?:dur|len|\d))/,
    why: "it adds silence without end",
    mend: "give it a length, as apad=whole_dur=10",
  },
  {
    pattern: /\b(apad)=(?:packet_size=)?\d+(?![\w.:])/,
    why: "it adds silence without end",
    mend: "give it a length, as apad=whole_dur=10",
  },
  {
    pattern: /\b(a?loop)=(?:loop=)?-1\b/,
    why: "with -1 it repeats its input without end",
    mend: "give it a number of times, as loop=3",
  },
  {
    pattern: /\b(tpad)=(?:[^,;[]*:)?(?:stop=)?-1\b/,
    why: "it adds pictures without end",
    mend: "give it a length, as tpad=stop_duration=5",
  },
  {
    pattern: /\b(a?movie)=[^,;[]*\bloop=0\b/,
    why: "with loop=0 it repeats its file without end",
    mend: "leave loop=0 out",
  },
  {
    pattern: /\b(apad|a?loop|tpad|zoompan)=[^,;[]*\d{8}/,
    why: "it goes on for longer than any job may take",
    mend: "give it a smaller number",
  },
]

/** The inputs and the filters of a command that have no end by themselves. */
export function findEndless(command: ReadCommand): Endless[] {
  const graphs = allOptions(command).filter(({ name }) => GRAPH_NAMES.test(name))
  return [
    ...command.files.flatMap((file) => findEndlessInput(file) ?? []),
    ...command.files.flatMap(({ kind, word }) => (kind === "input" ? addingOf(word) : [])),
    ...graphs.flatMap(({ value }) => [...sourcesOf(value ?? ""), ...addingOf(value ?? "")]),
  ]
}

/** What to write against these, as one more sentence of a command that ran too long; nothing of none. */
export function describeEndless(endless: readonly Endless[]): string {
  if (endless.length === 0) return ""
  const causes = endless.slice(0, SHOWN_MAX).map(({ name, why, mend }) => {
    return `${name} has no end, since ${why} (${mend})`
  })
  return ` It may never be done: ${causes.join("; ")}; write -t and its seconds before the output, or -shortest, which ends with the shortest stream, or shortest=1 in a filter that joins streams, as overlay=shortest=1.`
}

const SHOWN_MAX = 3

/** Why an input has no end; null where it has one, or may have one. */
export function findEndlessInput(file: ReadFile): Endless | null {
  const { kind, word } = file
  if (kind !== "input" || lastValue(file, "t") !== null || lastValue(file, "to") !== null) {
    return null
  }
  const name = `the input "${word}"`
  const times = lastValue(file, "stream_loop") ?? ""
  if (/^(?:-\d|\d{8})/.test(times)) {
    const mend = "give it fewer times, as -stream_loop 3"
    return { name, why: `-stream_loop ${times} repeats it without end`, mend, medium: null }
  }
  const isPicture = PICTURE_NAME.test(word) || lastValue(file, "f") === "image2"
  if (lastValue(file, "loop") === "1" && isPicture) {
    return {
      name,
      why: "-loop 1 shows it again and again",
      mend: "write -t and its seconds before its -i",
      medium: "v",
    }
  }
  if (lastValue(file, "ignore_loop") === "0" && /\.gif$/i.test(word)) {
    return {
      name,
      why: "-ignore_loop 0 repeats it without end",
      mend: "leave -ignore_loop out",
      medium: "v",
    }
  }
  return lastValue(file, "f") === "lavfi" ? (sourcesOf(word)[0] ?? null) : null
}

function sourcesOf(graph: string): Endless[] {
  return Array.from(graph.matchAll(SOURCES), ([, source = "", values = ""]) => ({ source, values }))
    .filter(({ source, values }) => {
      const isNone = ZERO_IS_NONE.test(source) && /\b(?:d|duration)=0(?![.\d])/.test(values)
      return (isNone || !HAS_DURATION.test(values)) && !IS_TRIMMED.test(graph)
    })
    .map(({ source }) => ({
      name: `the source ${source}`,
      why: "it makes frames without end",
      mend: /^(?:mandelbrot|life|cellauto)$/.test(source)
        ? "write -t and its seconds before its -i"
        : `give it an end, as ${source}=duration=5`,
      medium: mediumOf(source, graph),
    }))
}

/** The letter of the medium of a graph that begins with a source; null where it may have several. */
function mediumOf(source: string, graph: string): "v" | "a" | null {
  if (/[[;]/.test(graph)) return null
  return SOUND_SOURCE.test(source) ? "a" : "v"
}

function addingOf(graph: string): Endless[] {
  return ADDING.flatMap(({ pattern, why, mend }) => {
    const filter = pattern.exec(graph)?.[1]
    return filter === undefined ? [] : [{ name: `the filter ${filter}`, why, mend, medium: null }]
  })
}
