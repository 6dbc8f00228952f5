import type { ParsedCommand, CommandFile } from "../../../ffmpeg/command-line.ts"
import type { ProbeResult } from "../../../contract/probe.ts"
import { collectFaults, quoteShortenedValue } from "../../../ffmpeg/policy/refusal.ts"
import type { CommandRefusal } from "../../../ffmpeg/policy/refusal.ts"
import type { ParsedGraph } from "./check-graphs.ts"

/** Lookup of ffprobe results by the names that the inputs have in the command. */
export type ProbesByName = { get(name: string): ProbeResult | undefined }

/**
 * Reference to a stream by a -map option or a filter: a specifier such as `0:a`, and the text of
 * the reference in the command.
 */
type Reference = { option: string; specifier: string; isOptional: boolean; text: string }

/** Letters of stream specifiers, by ffprobe's `codec_type`. */
const LETTERS: Record<string, string> = {
  video: "v",
  audio: "a",
  subtitle: "s",
  data: "d",
  attachment: "t",
}

/** Returns refusals of -map options and filter labels that refer to a stream that no input has. */
export function findStreamRefusals(
  command: ParsedCommand,
  graphs: readonly ParsedGraph[],
  probes: ProbesByName,
): CommandRefusal[] {
  const inputs = command.files.filter(({ kind }) => kind === "input")
  const references = [...findMapReferences(command), ...findLabelReferences(graphs)]
  return collectFaults(references, (reference) => {
    const message = describeMissing(reference, inputs, probes)
    if (message === null) return []
    const { option } = reference
    return [{ code: "stream_not_found" as const, option, message: `${option}: ${message}` }]
  })
}

function findMapReferences({ files }: ParsedCommand): Reference[] {
  const options = files.flatMap((file) => file.options)
  return options.flatMap(({ name, word, value }) => {
    if (name !== "map" || value === null || value.startsWith("[")) return []
    const [specifier = ""] = value.replace(/^-|\?$/g, "").split(",", 1)
    const isOptional = value.endsWith("?") || value.startsWith("-")
    // A -map value without an input number refers to the first input.
    const isFirst = /^[vVasdt](?::\d+)?$/.test(specifier)
    return [
      { option: word, specifier: isFirst ? `0:${specifier}` : specifier, isOptional, text: value },
    ]
  })
}

/**
 * Returns the labels in complex filter graphs that no filter of the graphs defines, and that must
 * therefore refer to streams of inputs.
 */
function findLabelReferences(graphs: readonly ParsedGraph[]): Reference[] {
  const filters = graphs.flatMap(({ option, isComplex, read }) =>
    isComplex && "chains" in read ? read.chains.flat().map((each) => ({ ...each, option })) : [],
  )
  const graphLabels = new Set(filters.flatMap(({ outputs }) => outputs))
  return filters.flatMap(({ option, inputs }) =>
    inputs
      .filter((label) => !graphLabels.has(label))
      .map((specifier) => ({ option, specifier, isOptional: false, text: `[${specifier}]` })),
  )
}

function describeMissing(
  { specifier, isOptional, text }: Reference,
  inputs: readonly CommandFile[],
  probes: ProbesByName,
): string | null {
  const [, number, stream = ""] = /^(\d+)(?::(.*))?$/.exec(specifier) ?? []
  if (number === undefined) return null
  const input = inputs[Number(number)]
  if (!input)
    return `${quoteShortenedValue(text)} selects input ${number}, but ${describeCount(inputs.length)}`
  const probe = isOptional ? undefined : probes.get(input.word)
  if (!probe || input.options.some(({ name }) => name === "f")) return null
  if (countStreams(stream, probe) !== 0) return null
  const instead = text.startsWith("[")
    ? "use one of these streams, or leave out the filters of this stream and their -map"
    : "map one of these streams, or end the map with ? if the stream is optional"
  return `${quoteShortenedValue(text)} is not a stream of ${quoteShortenedValue(input.word)}, which has ${describeStreams(probe)}; ${instead}`
}

function describeCount(count: number): string {
  if (count === 0) return "the command has no input"
  if (count === 1) return "the only input has the number 0"
  return `the inputs have the numbers 0 to ${count - 1}`
}

/**
 * Counts the streams that a specifier such as `1`, `a` or `a:0` selects. A specifier with an index
 * selects at most 1 stream. Returns null for any other form of specifier.
 */
function countStreams(specifier: string, { streams }: ProbeResult): number | null {
  if (/^\d+$/.test(specifier)) return Number(specifier) < streams.length ? 1 : 0
  const [, letter, place] = /^([vVasdt])(?::(\d+))?$/.exec(specifier) ?? []
  if (letter === undefined) return null
  const count = streams.filter(
    (stream) => findStreamTypeLetter(stream) === letter.toLowerCase(),
  ).length
  if (place === undefined) return count
  return Number(place) < count ? 1 : 0
}

/** Lists the streams of an input in the notation of -map options: `v:0 (h264), a:0 (aac)`. */
function describeStreams({ streams }: ProbeResult): string {
  const counts = new Map<string, number>()
  const descriptions = streams.map((stream) => {
    const letter = findStreamTypeLetter(stream)
    const place = counts.get(letter) ?? 0
    counts.set(letter, place + 1)
    const codec = stream["codec_name"]
    return `${letter}:${place}${typeof codec === "string" ? ` (${codec})` : ""}`
  })
  return descriptions.length === 0 ? "none" : descriptions.slice(0, 16).join(", ")
}

/**
 * Returns the letter that selects a stream's medium in stream specifiers, such as `v` for video.
 */
export function findStreamTypeLetter({ codec_type: type }: ProbeResult["streams"][number]): string {
  return (typeof type === "string" ? LETTERS[type] : undefined) ?? "d"
}
