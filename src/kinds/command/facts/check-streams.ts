import type { ReadCommand, ReadFile } from "../../../contract/command-line.ts"
import type { ProbeResult } from "../../../contract/probe.ts"
import { firstFaults, quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import type { Graph } from "./check-graphs.ts"

/** The probes of inputs by the names that the inputs have in the command. */
export type Probes = { get(name: string): ProbeResult | undefined }

/** A stream that a map or a filter asks for: `0:a` and how the command writes it. */
type Reference = { option: string; asked: string; isOptional: boolean; shown: string }

/** Letters of stream specifiers by the names that ffprobe has for them. */
const LETTERS: Record<string, string> = {
  video: "v",
  audio: "a",
  subtitle: "s",
  data: "d",
  attachment: "t",
}

/** Refuses maps and labels of streams that no input has. */
export function checkStreams(
  command: ReadCommand,
  graphs: readonly Graph[],
  probes: Probes,
): Refusal[] {
  const inputs = command.files.filter(({ kind }) => kind === "input")
  const references = [...mapsOf(command), ...labelsOf(graphs)]
  return firstFaults(references, (reference) => {
    const message = describeLack(reference, inputs, probes)
    if (message === null) return []
    const { option } = reference
    return [{ code: "stream_not_found" as const, option, message: `${option}: ${message}` }]
  })
}

function mapsOf({ files }: ReadCommand): Reference[] {
  const options = files.flatMap((file) => file.options)
  return options.flatMap(({ name, word, value }) => {
    if (name !== "map" || value === null || value.startsWith("[")) return []
    const [asked = ""] = value.replace(/^-|\?$/g, "").split(",", 1)
    const isOptional = value.endsWith("?") || value.startsWith("-")
    // A map that begins with no number is of the first input.
    const isFirst = /^[vVasdt](?::\d+)?$/.test(asked)
    return [{ option: word, asked: isFirst ? `0:${asked}` : asked, isOptional, shown: value }]
  })
}

/** Labels of inputs that graphs of the whole command read, and that none of their filters makes. */
function labelsOf(graphs: readonly Graph[]): Reference[] {
  const filters = graphs.flatMap(({ option, isComplex, read }) =>
    isComplex && "chains" in read ? read.chains.flat().map((each) => ({ ...each, option })) : [],
  )
  const made = new Set(filters.flatMap(({ outputs }) => outputs))
  return filters.flatMap(({ option, inputs }) =>
    inputs
      .filter((label) => !made.has(label))
      .map((asked) => ({ option, asked, isOptional: false, shown: `[${asked}]` })),
  )
}

function describeLack(
  { asked, isOptional, shown }: Reference,
  inputs: readonly ReadFile[],
  probes: Probes,
): string | null {
  const [, number, specifier = ""] = /^(\d+)(?::(.*))?$/.exec(asked) ?? []
  if (number === undefined) return null
  const input = inputs[Number(number)]
  if (!input) return `${quote(shown)} asks for input ${number}, and ${describeCount(inputs.length)}`
  const probe = isOptional ? undefined : probes.get(input.word)
  if (!probe || input.options.some(({ name }) => name === "f")) return null
  if (countStreams(specifier, probe) !== 0) return null
  const instead = shown.startsWith("[")
    ? "take one of these, or leave out the filters that it is for, and their -map, since a filter needs its stream"
    : "map one of these, or end the map with ? where it may be missing"
  return `${quote(shown)} is no stream of ${quote(input.word)}, which has ${describeStreams(probe)}; ${instead}`
}

function describeCount(count: number): string {
  if (count === 0) return "the command has no input"
  const highest = count === 1 ? "the only one is 0" : `they are 0 to ${count - 1}`
  return `inputs count from 0, and ${highest}`
}

/** How many streams a specifier names; null where that takes more than their kinds. */
function countStreams(specifier: string, { streams }: ProbeResult): number | null {
  if (/^\d+$/.test(specifier)) return Number(specifier) < streams.length ? 1 : 0
  const [, letter, place] = /^([vVasdt])(?::(\d+))?$/.exec(specifier) ?? []
  if (letter === undefined) return null
  const count = streams.filter((stream) => letterOf(stream) === letter.toLowerCase()).length
  if (place === undefined) return count
  return Number(place) < count ? 1 : 0
}

/** `v:0 (h264), a:0 (aac)`, as maps name the streams of an input. */
function describeStreams({ streams }: ProbeResult): string {
  const counts = new Map<string, number>()
  const named = streams.map((stream) => {
    const letter = letterOf(stream)
    const place = counts.get(letter) ?? 0
    counts.set(letter, place + 1)
    const codec = stream["codec_name"]
    return `${letter}:${place}${typeof codec === "string" ? ` (${codec})` : ""}`
  })
  return named.length === 0 ? "none" : named.slice(0, 16).join(", ")
}

/** The letter of a stream's medium, as specifiers have it. */
export function letterOf({ codec_type: type }: ProbeResult["streams"][number]): string {
  return (typeof type === "string" ? LETTERS[type] : undefined) ?? "d"
}
