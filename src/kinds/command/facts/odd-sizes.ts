import { allOptions, lastValue, mapsOf } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../../contract/command-line.ts"
import type { Refusal } from "../policy/refusal.ts"
import type { Probes } from "./check-streams.ts"
import { encoderOf, mediumOf } from "./codecs.ts"
import { readChains } from "./graph.ts"
import type { ChainFilter } from "./graph.ts"
import type { Known } from "./known.ts"
import { followSizes } from "./picture-sizes.ts"
import type { Size } from "./picture-sizes.ts"

const HALVED = /^yuvj?42[02]p(?:10)?(?:le)?$/
/** Options of inputs by which their pictures have another size than their probe says. */
const RESIZING = /^(?:f|s|autorotate|noautorotate|display_\w+|apply_cropping|lowres|vn|video_size)$/

type Place = { command: ReadCommand; known: Known; probes: Probes }

/** Pictures of sizes that filters do not take, or that are odd where the encoder takes even ones alone. */
export function checkSizes(command: ReadCommand, known: Known, probes: Probes): Refusal[] {
  const place = { command, known, probes }
  const { labels, refusals } = checkComplex(place)
  if (refusals.length > 0) return refusals
  return command.files.flatMap((file) =>
    file.kind === "output" ? checkOutput(file, labels, place) : [],
  )
}

/** The graphs that are for all of a command. */
function checkComplex({ command, known, probes }: Place) {
  const labels = new Map<string, Size>()
  const options = allOptions(command)
  const refusals = options.flatMap(({ name, word, value }): Refusal[] => {
    const read = /^(?:filter_complex|lavfi)$/.test(name) ? readChains(value ?? "") : { chains: [] }
    if ("error" in read) return []
    const made = followSizes(read.chains, known, {
      first: null,
      all: command.files
        .filter(({ kind }) => kind === "input")
        .map((input) => sizeOfInput(input, probes)),
      sizeOf: (label) => labels.get(label) ?? sizeOfStream(label, command, probes),
    })
    for (const [label, size] of made.labels) labels.set(label, size)
    return made.faults.map((message) => {
      return { code: "filter_error", option: word, message: `${word}: ${message}` }
    })
  })
  return { labels, refusals }
}

/** The size of the pictures that `0:v` names; null where the input has none, or several. */
function sizeOfStream(label: string, { files }: ReadCommand, probes: Probes): Size {
  const number = /^(\d+):(?:v|v:0|0)$/.exec(label)?.[1]
  const input = files.filter(({ kind }) => kind === "input")[Number(number)]
  return input ? sizeOfInput(input, probes) : null
}

function sizeOfInput(input: ReadFile, probes: Probes): Size {
  if (input.options.some(({ name }) => RESIZING.test(name))) return null
  const streams = probes.get(input.word)?.streams ?? []
  const [video, ...others] = streams.filter((stream) => stream["codec_type"] === "video")
  const { width, height, side_data_list: sides, tags } = video ?? {}
  // Pictures that are turned have their sides swapped.
  const isTurned = /rotat/i.test(JSON.stringify([sides, tags]))
  if (others.length > 0 || isTurned || typeof width !== "number" || typeof height !== "number") {
    return null
  }
  return [width, height]
}

function checkOutput(
  file: ReadFile,
  labels: ReadonlyMap<string, Size>,
  { command, known, probes }: Place,
): Refusal[] {
  if (file.options.some(({ name }) => name === "target" || name === "vn")) return []
  const filters = filtersOf(file)
  const maps = mapsOf(file)
  const isLabelled = maps.some((map) => map.startsWith("["))
  const first = sizeBefore(maps, labels, { command, known, probes })
  if (filters === null) return []
  const made = followSizes([filters], known, { first, sizeOf: () => null })
  const option = file.options.findLast(({ name }) => /^(?:vf|filter|s)$/.test(name))?.word ?? "-vf"
  if (made.faults.length > 0) {
    return made.faults.map((each) => ({
      code: "filter_error",
      option,
      message: `${option}: ${each}`,
    }))
  }
  const given = /^(\d+)x(\d+)$/.exec(lastValue(file, "s") ?? "")
  const size: Size = given ? [Number(given[1]), Number(given[2])] : made.last
  const encoder = encoderOf(file, "V", known)
  if (!size || (encoder !== "libx264" && encoder !== "libx265")) return []
  const before = isLabelled ? null : (formatOf(filters) ?? formatBefore(command, probes))
  const format = lastValue(file, "pix_fmt") ?? before
  if (format === null || !HALVED.test(format)) return []
  // Of 4:2:2, the height is not halved.
  const odd = (format.includes("422") ? size.slice(0, 1) : size).find((side) => side % 2 === 1)
  if (odd === undefined) return []
  const message = `${option}: ${encoder} takes even widths and heights alone in ${format}, and ${size.join("x")} has ${odd}; write ${odd - 1} or ${odd + 1}, or -2 for a side that is to follow the other, as scale=640:-2`
  return [{ code: "invalid_option", option, message }]
}

/** The filters of the output's pictures; null where they are more than one chain. */
function filtersOf(file: ReadFile): ChainFilter[] | null {
  const graph = file.options.findLast((option) => {
    return option.name === "vf" || (option.name === "filter" && mediumOf(option) === "V")
  })
  if (graph && /:\d+$/.test(graph.word)) return null
  const read = readChains(graph?.value ?? "null")
  return "error" in read || read.chains.length !== 1 ? null : (read.chains[0] ?? null)
}

/** The size of the pictures that an output takes; null where it is not known, or which they are. */
function sizeBefore(
  maps: readonly string[],
  labels: ReadonlyMap<string, Size>,
  { command, probes }: Place,
): Size {
  const pictures = maps.filter((map) => !/:[asdt](?::|\??$)/.test(map))
  const [only, ...others] = pictures
  if (only !== undefined) {
    const sizes = pictures.map((map) => labels.get(/^\[(.+)\]$/.exec(map)?.[1] ?? "") ?? null)
    const size = sizes.find((each) => each !== null)
    return others.length === 0 && !only.startsWith("[")
      ? sizeOfStream(only, command, probes)
      : (size ?? null)
  }
  const [input, ...more] = command.files.filter(({ kind }) => kind === "input")
  const isComplex = command.files.some(({ options }) => {
    return options.some(({ name }) => /^(?:filter_complex\w*|lavfi)$/.test(name))
  })
  return input && more.length === 0 && maps.length === 0 && !isComplex
    ? sizeOfInput(input, probes)
    : null
}

/** Filters that keep the format of pixels that there is. */
const SAME_FORMAT =
  /^(?:scale|crop|pad|transpose|setsar|setdar|fps|setpts|hflip|vflip|eq|hue|fade|drawtext|drawbox|unsharp|null|trim|select|boxblur|gblur)$/

/** The format of the last filter that names one; null where a filter may change it. */
function formatOf(filters: readonly ChainFilter[]): string | null {
  const at = filters.findLastIndex(({ name }) => name === "format")
  const isSame = filters.slice(at + 1).every(({ name }) => SAME_FORMAT.test(name))
  if (!isSame) return "unknown"
  return filters[at]?.options[0]?.value ?? null
}

function formatBefore({ files }: ReadCommand, probes: Probes): string | null {
  const inputs = files.filter(({ kind }) => kind === "input")
  const [input, ...others] = inputs
  const video = probes.get(input?.word ?? "")?.streams.find((stream) => {
    return stream["codec_type"] === "video"
  })
  return others.length === 0 && typeof video?.["pix_fmt"] === "string" ? video["pix_fmt"] : null
}
