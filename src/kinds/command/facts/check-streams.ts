import { lastValue } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../../contract/command-line.ts"
import type { ProbeResult } from "../../../contract/probe.ts"
import { firstFaults, quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import { graphsOf } from "./check-graphs.ts"
import { readChains } from "./graph.ts"

/** What is known of the streams of an input: what ffprobe says of the file of this name. */
export type Probes = { get(name: string): ProbeResult | undefined }

type Stream = { medium: string; codec: string }

/** Maps that may be read; of longer specifiers, ffmpeg tells. */
const READ_MAP =
  /^\d*:?(?:(?:[vVasdt](?::\d+)?|\d+|u)?|(?:[vVasdt]:)?(?:p|g|m|i|disp|view|vidx|vpos|usable)\b.*|.*(?:#|:m:|:p:|:u\b|:i:|:disp:|:view:|:vidx:|:vpos:).*)$/

/** Streams that maps and filters ask for and that no input has. */
export function checkStreams(command: ReadCommand, probes: Probes): Refusal[] {
  const inputs = command.files.filter(({ kind }) => kind === "input")
  const maps = command.files.flatMap(({ options }) =>
    options.flatMap(({ name, word, value }) => {
      if (name !== "map" || value === null || value.startsWith("[")) return []
      const isOptional = value.endsWith("?") || value.startsWith("-")
      const [asked = ""] = value.replace(/^-|\?$/g, "").split(",", 1)
      return [{ option: word, asked, isOptional, shown: value, isMap: true }]
    }),
  )
  const unread = maps.flatMap(({ option, asked, shown }) => {
    // Names of files are told of elsewhere.
    if (READ_MAP.test(asked) || !/^(?:\d|[a-z]+$)/i.test(asked)) return []
    const message = `${option}: ${quote(shown)} names no streams; write the number of the input, and v, a or s with a number if need be, as 0:v or 0:a:1`
    return [{ code: "invalid_option" as const, option, message }]
  })
  if (unread.length > 0) return unread
  const produced = new Set<string>()
  const labels = graphsOf(command).flatMap(({ option, kind, text }) => {
    const read = readChains(text)
    if (kind !== "complex" || "error" in read) return []
    const filters = read.chains.flat()
    for (const label of filters.flatMap(({ outputs }) => outputs)) produced.add(label)
    return filters.flatMap((filter) =>
      filter.inputs.map((asked) => {
        return { option, asked, isOptional: false, shown: `[${asked}]`, isMap: false }
      }),
    )
  })
  const references = [...maps, ...labels.filter(({ asked }) => !produced.has(asked))]
  return firstFaults(references, (each) => {
    const message = describeLack(each, inputs, probes)
    if (message === null) return []
    const code = "stream_not_found" as const
    return [{ code, option: each.option, message: `${each.option}: ${message}` }]
  })
}

/** Files without subtitles that the filter subtitles is to draw. */
export function checkDrawn(command: ReadCommand, probes: Probes): Refusal[] {
  return graphsOf(command).flatMap(({ option, text }) => {
    const read = readChains(text)
    const filters = "error" in read ? [] : read.chains.flat()
    return filters.flatMap(({ name, options }) => {
      const file = options.find((each, place) => {
        return each.name === null ? place === 0 : /^(?:f|filename)$/.test(each.name)
      })
      const streams = probes.get(file?.value ?? "")?.streams.map(readStream) ?? []
      const isDrawn = name === "subtitles" && streams.length > 0
      if (!isDrawn || streams.some(({ medium }) => medium === MEDIA["s"])) return []
      const message = `${option}: ${quote(file?.value ?? "")} has no subtitles, only ${describeStreams(streams)}; give an .srt or .ass file as an input, or a film that has some`
      return [{ code: "stream_not_found" as const, option, message }]
    })
  })
}

/** Media that are read as if they were a text that lists files. */
export function checkLists({ files }: ReadCommand, probes: Probes): Refusal[] {
  return files.flatMap((file) => {
    const isList = file.kind === "input" && lastValue(file, "f") === "concat"
    const format = isList ? probes.get(file.word)?.format_name : undefined
    if (!format || probes.get(file.word)?.streams.length === 0) return []
    const message = `-f: concat reads a text that lists files, as file 'in_1.mp4' in each line, and ${quote(file.word)} is ${format}; give such a text as an input, or leave -f concat out`
    return [{ code: "invalid_option" as const, option: "-f", message }]
  })
}

type Reference = { asked: string; isOptional: boolean; shown: string; isMap: boolean }

function describeLack(
  { asked, isOptional, shown, isMap }: Reference,
  inputs: readonly ReadFile[],
  probes: Probes,
): string | null {
  // A map that begins with no number is of the first input.
  const [, number, specifier = ""] = /^(\d+)(?::(.*))?$/.exec(isMap ? firstOf(asked) : asked) ?? []
  if (number === undefined) return null
  const input = inputs[Number(number)]
  if (!input) {
    const count = inputs.length
    const highest = count === 1 ? "the only one is 0" : `they are 0 to ${count - 1}`
    const there = count === 0 ? "the command has no input" : `inputs count from 0, and ${highest}`
    return `${quote(shown)} asks for input ${number}, and ${there}`
  }
  const probe = isOptional ? undefined : probes.get(input.word)
  if (!probe || input.options.some(({ name }) => name === "f")) return null
  const streams = probe.streams.map(readStream)
  const found = countStreams(specifier, streams)
  if (found === null || found > 0) return null
  const instead = isMap
    ? "map one of these, or end the map with ? where it may be missing"
    : "take one of these, or leave out the filters that it is for, and their -map, since a filter needs its stream"
  return `${quote(shown)} is no stream of ${quote(input.word)}, which has ${describeStreams(streams)}; ${instead}`
}

/** `0:a` of a map like `a` or `a:1`. */
function firstOf(asked: string): string {
  return /^[vVasdt](?::\d+)?$/.test(asked) ? `0:${asked}` : asked
}

function readStream(stream: Record<string, unknown>): Stream {
  const { codec_type: medium, codec_name: codec } = stream
  return {
    medium: typeof medium === "string" ? medium : "",
    codec: typeof codec === "string" ? codec : "",
  }
}

const MEDIA: Record<string, string> = {
  v: "video",
  V: "video",
  a: "audio",
  s: "subtitle",
  d: "data",
  t: "attachment",
}

/** How many streams a specifier names; null where that takes more than their kinds. */
function countStreams(specifier: string, streams: readonly Stream[]): number | null {
  if (/^\d+$/.test(specifier)) return Number(specifier) < streams.length ? 1 : 0
  const [, letter = "", place] = /^([vVasdt])(?::(\d+))?$/.exec(specifier) ?? []
  const medium = MEDIA[letter]
  if (medium === undefined) return null
  const count = streams.filter((stream) => stream.medium === medium).length
  if (place === undefined) return count
  return Number(place) < count ? 1 : 0
}

/** `0:v:0 (h264), 0:a:0 (aac)`, as maps name them within their input. */
function describeStreams(streams: readonly Stream[]): string {
  const counts = new Map<string, number>()
  const named = streams.map(({ medium, codec }) => {
    const place = counts.get(medium) ?? 0
    counts.set(medium, place + 1)
    const letter = Object.entries(MEDIA).find(([, name]) => name === medium)?.[0] ?? "d"
    return `${letter}:${place}${codec === "" ? "" : ` (${codec})`}`
  })
  return named.length === 0 ? "none" : named.slice(0, 16).join(", ")
}
