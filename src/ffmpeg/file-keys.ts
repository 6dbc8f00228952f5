import { listAllOptions, parseFfmpegCommand } from "./command-line.ts"
import type { CommandFile } from "./command-line.ts"
import { readTokenIndexes, parseOptionPairs, readGraphToken } from "./graph-tokens.ts"
import type { PositionedOption } from "./graph-tokens.ts"
import { findFilterOptionValueKind } from "./policy/filters.ts"
import { findOptionValueKind } from "./policy/options.ts"
import type { OptionValueKind } from "./policy/options.ts"
import {
  FILTER_OPTION_TERMINATORS,
  resolveOptionNames,
  parseGraphFilters,
} from "./graph-filters.ts"

/** Lookup of workspace file names by key, such as a Map of strings. */
export type FileNamesByKey = { get(key: string): string | undefined }

/**
 * Matches the placeholder of a file key in a command, `{{key}}`. The braces may be escaped by
 * backslashes.
 */
export const KEY_PLACEHOLDER = /\\?\{\\?\{([^{}\\]{1,80})\\?\}\\?\}/g

/**
 * Replaces file keys by file names in the words of an ffmpeg command. `{{key}}` and `\{\{key\}\}`
 * are replaced anywhere, but a key without braces only in the position of a file name. Placeholders
 * of unknown keys remain unchanged.
 */
export function replaceFileKeysByNames(words: readonly string[], names: FileNamesByKey): string[] {
  const places = Map.groupBy(findFilePositions(words), ({ index }) => index)
  return words.map((word, index) =>
    replaceBareKeys(word, places.get(index) ?? [], names).replace(
      KEY_PLACEHOLDER,
      (whole, key: string) => names.get(key) ?? whole,
    ),
  )
}

function replaceBareKeys(
  word: string,
  places: readonly FileNamePosition[],
  names: FileNamesByKey,
): string {
  let replaced = ""
  let copied = 0
  for (const { text, from, to } of places) {
    const name = word.slice(from, to) === text ? names.get(text) : undefined
    if (name === undefined) continue
    replaced += word.slice(copied, from) + name
    copied = to
  }
  return replaced + word.slice(copied)
}

/**
 * Position of a file name in an ffmpeg command: the index of the word, the unescaped file name, and
 * the character range in the word.
 */
export type FileNamePosition = {
  index: number
  text: string
  from: number
  to: number
  use: "input" | "output" | "read" | "write"
}

type GraphFilePosition = Omit<FileNamePosition, "index">

/**
 * Returns the positions of all file names in an ffmpeg command, in order. File names are the words
 * after `-i`, the outputs, and the values of options and filter options that take a file.
 */
export function findFilePositions(words: readonly string[]): FileNamePosition[] {
  return findUses(words).flatMap(({ index, use }) => {
    const text = words[index] ?? ""
    if (use === "graph")
      return findFileNamesInFilterGraph(text).map((place) => ({ index, ...place }))
    return [{ index, text, from: 0, to: text.length, use }]
  })
}

/** Returns the indexes of the words of a command that are filter graphs. */
export function findFilterGraphWordIndexes(words: readonly string[]): Set<number> {
  return new Set(findUses(words).flatMap(({ index, use }) => (use === "graph" ? [index] : [])))
}

type WordUse = { index: number; use: FileNamePosition["use"] | "graph" }

/** Returns the words of an ffmpeg command that are file names or filter graphs, in order. */
function findUses(words: readonly string[]): WordUse[] {
  const command = parseFfmpegCommand(words)
  const files = command.files.flatMap((file): WordUse[] => {
    if (file.kind === "decoder") return []
    if (file.kind === "output") return [{ index: file.at, use: "output" }]
    return [{ index: file.at, use: isGraph(file) ? "graph" : "input" }]
  })
  const options = listAllOptions(command).flatMap(({ name, value, at }): WordUse[] => {
    const use = value === null ? null : findWordUse(findOptionValueKind(name))
    return use === null ? [] : [{ index: at, use }]
  })
  return [...files, ...options].toSorted((one, other) => one.index - other.index)
}

function findWordUse(kind: OptionValueKind | null): WordUse["use"] | null {
  switch (kind) {
    case "graph":
    case "read":
    case "write":
      return kind
    case "graph-file":
    case "key-info":
      return "read"
    default:
      return null
  }
}

/**
 * Reports whether an input is a filter graph instead of a file, because its last `-f` option is
 * `lavfi`.
 */
function isGraph({ options }: CommandFile): boolean {
  return options.findLast(({ name }) => name === "f")?.value?.toLowerCase() === "lavfi"
}

/**
 * Returns the file names in the filter options of a filter graph, with their character ranges in
 * the graph.
 */
export function findFileNamesInFilterGraph(graph: string): GraphFilePosition[] {
  return parseGraphFilters(graph).flatMap((filter) => {
    const options = resolveOptionNames(filter).flatMap((pair) => {
      const use = findFilterOptionUse(filter.name, pair)
      return use === null ? [] : [{ pair, use }]
    })
    // Returns early for the many filters that name no file, because computing character positions
    // takes time.
    if (options.length === 0) return []
    const text = readGraphToken(graph, filter.from, FILTER_OPTION_TERMINATORS).token
    const inGraph = readTokenIndexes(graph, filter.from, FILTER_OPTION_TERMINATORS)
    return options.flatMap(({ pair, use }) => {
      const indexes = readTokenIndexes(text, pair.from, ":").map((index) => inGraph[index] ?? 0)
      return use === "model"
        ? findModelFiles(pair.value, indexes)
        : toFilePosition(pair.value, indexes, use)
    })
  })
}

function findFilterOptionUse(
  filter: string,
  { name }: PositionedOption,
): GraphFilePosition["use"] | "model" | null {
  switch (findFilterOptionValueKind(filter, name ?? "")) {
    case "media":
    case "read":
    case "font":
      return "read"
    case "write":
    case "print":
      return "write"
    case "model":
      return "model"
    default:
      return null
  }
}

/**
 * Returns the file name `text` with its character range in the graph. `indexes` contains, for each
 * character of the name, its index in the graph.
 */
function toFilePosition(
  text: string,
  indexes: readonly number[],
  use: GraphFilePosition["use"],
): GraphFilePosition[] {
  const [first, last] = [indexes.at(0), indexes.at(-1)]
  if (first === undefined || last === undefined) return []
  return [{ text, from: first, to: last + 1, use }]
}

/**
 * Returns the file names in a value of the option `model` of the filter `libvmaf`, such as
 * `version=a|path=b:name=c`.
 */
function findModelFiles(value: string, indexes: readonly number[]): GraphFilePosition[] {
  let begin = 0
  return value.split("|").flatMap((model) => {
    const own = indexes.slice(begin, begin + model.length)
    begin += model.length + 1
    return parseOptionPairs(model, ":").flatMap((pair) => {
      if (pair.name !== "path") return []
      const places = readTokenIndexes(model, pair.from, ":").map((index) => own[index] ?? 0)
      return toFilePosition(pair.value, places, "read")
    })
  })
}
