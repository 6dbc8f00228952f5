import { lastValue } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../../contract/command-line.ts"
import type { Refusal } from "../policy/refusal.ts"
import type { Probes } from "./check-streams.ts"
import { encoderOf, mediumOf } from "./codecs.ts"
import { readChains } from "./graph.ts"
import type { ChainFilter } from "./graph.ts"
import type { Known } from "./known.ts"

/** Filters that keep the size of pictures. */
const KEEPING =
  /^(?:format|setsar|setdar|fps|setpts|hflip|vflip|eq|hue|fade|drawtext|drawbox|unsharp|null)$/
const HALVED = /^yuvj?420p(?:10)?(?:le)?$/

/** Pictures of an odd size for encoders that halve their colors, and so take even ones alone. */
export function checkSizes({ files }: ReadCommand, known: Known, probes: Probes): Refusal[] {
  const inputs = files.filter(({ kind }) => kind === "input")
  return files.flatMap((file) => {
    const encoder = file.kind === "output" ? encoderOf(file, "V", known) : null
    if (encoder !== "libx264" && encoder !== "libx265") return []
    const filters = filtersOf(file)
    if (filters === null) return []
    const size = sizeOf(file, filters)
    const odd = size?.find((side) => side % 2 === 1)
    if (!size || odd === undefined) return []
    const [input] = inputs.length === 1 ? inputs : []
    const format = lastValue(file, "pix_fmt") ?? formatOf(filters) ?? ofProbe(input, probes)
    if (format === null || !HALVED.test(format)) return []
    const option =
      file.options.findLast(({ name }) => /^(?:vf|filter|s)$/.test(name))?.word ?? "-vf"
    const message = `${option}: ${encoder} takes even widths and heights alone in ${format}, and ${size.join("x")} has ${odd}; write ${odd - 1} or ${odd + 1}, or -2 for a side that is to follow the other, as scale=640:-2`
    return [{ code: "invalid_option" as const, option, message }]
  })
}

/** The filters of the output's pictures; null where they are more than one chain. */
function filtersOf(file: ReadFile): ChainFilter[] | null {
  const graph = file.options.findLast((option) => {
    return option.name === "vf" || (option.name === "filter" && mediumOf(option) === "V")
  })
  if (file.options.some(({ name }) => name === "map" || name === "target")) return null
  const read = readChains(graph?.value ?? "null")
  return "error" in read || read.chains.length !== 1 ? null : (read.chains[0] ?? null)
}

/** The size that pictures come to the encoder with; null where only the run tells it. */
function sizeOf(file: ReadFile, filters: readonly ChainFilter[]): number[] | null {
  const given = /^(\d+)x(\d+)$/.exec(lastValue(file, "s") ?? "")
  if (given) return [Number(given[1]), Number(given[2])]
  const last = filters.findLast(({ name }) => !KEEPING.test(name))
  if (last?.name !== "scale") return null
  const [first, second] = last.options
  const isShape = last.options.some(({ name }) => name?.startsWith("force_"))
  const sides = [first?.value ?? "", second?.value ?? ""]
  const areFirst = [first?.name ?? "w", second?.name ?? "h"].join() === "w,h"
  return areFirst && !isShape && sides.every((side) => /^\d{1,5}$/.test(side) && Number(side) > 0)
    ? sides.map(Number)
    : null
}

function formatOf(filters: readonly ChainFilter[]): string | null {
  return filters.findLast(({ name }) => name === "format")?.options[0]?.value ?? null
}

function ofProbe(input: ReadFile | undefined, probes: Probes): string | null {
  const video = probes.get(input?.word ?? "")?.streams.find((stream) => {
    return stream["codec_type"] === "video"
  })
  return typeof video?.["pix_fmt"] === "string" ? video["pix_fmt"] : null
}
