import { lastValue } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../../contract/command-line.ts"
import type { Refusal } from "../policy/refusal.ts"
import type { Probes } from "./check-streams.ts"
import { encoderOf } from "./codecs.ts"
import type { Known } from "./known.ts"

/** A size that is written in numbers, as -s and a lone filter scale have it. */
const WRITTEN_SIZE = /^(?:scale=)?(?:w(?:idth)?=)?(\d+)[x:](?:h(?:eight)?=)?(\d+)$/

/** Refuses odd sizes that are written in numbers, where an encoder of H.264 or H.265 gets yuv420p. */
export function checkSizes(command: ReadCommand, known: Known, probes: Probes): Refusal[] {
  return command.files.flatMap((file) => {
    if (file.kind !== "output") return []
    const encoder = encoderOf(file, "V", known)
    const option = file.options.findLast(({ name, word }) => {
      return name === "s" || name === "vf" || word === "-filter:v"
    })
    const sides = WRITTEN_SIZE.exec(option?.value ?? "")?.slice(1) ?? []
    const odd = sides.map(Number).find((side) => side % 2 === 1)
    const isHalved = /^libx26[45]$/.test(encoder ?? "") && formatOf(file, command, probes)
    const isOther = file.options.some(({ name }) => /^(?:target|vn|map|filter\w+)$/.test(name))
    if (!option || odd === undefined || isHalved !== "yuv420p" || isOther) return []
    const message = `${option.word}: ${encoder} takes even widths and heights alone in yuv420p, and ${sides.join("x")} has ${odd}; write ${odd - 1} or ${odd + 1}, or -2 for a side that is to follow the other, as scale=640:-2`
    return [{ code: "invalid_option", option: option.word, message }]
  })
}

/** The format of the pixels that an output gets: its own, or that of the one picture stream of one input. */
function formatOf(file: ReadFile, { files }: ReadCommand, probes: Probes): string | null {
  const own = lastValue(file, "pix_fmt")
  if (own !== null) return own
  const [input, ...others] = files.filter(({ kind }) => kind === "input")
  const streams = probes.get(input?.word ?? "")?.streams ?? []
  const [video, ...more] = streams.filter(({ codec_type: type }) => type === "video")
  const format = video?.["pix_fmt"]
  return others.length + more.length === 0 && typeof format === "string" ? format : null
}
