import { lastValue } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../../contract/command-line.ts"
import type { Refusal } from "../policy/refusal.ts"
import { graphsOf } from "./check-graphs.ts"
import { readChains } from "./graph.ts"
import type { ChainFilter } from "./graph.ts"
import type { Known } from "./known.ts"

const BOUNDS = /^(?:t|to|fs|frames|vframes|aframes|dframes)$/
const SOUND_NAME = /\.(?:mp3|wav|aac|m4a|flac|ogg|oga|opus|wma|aif|aiff|ac3)$/i
const PICTURE_NAME = /\.(?:jpe?g|png|webp|bmp|tiff?)$/i

/** An input without an end: what makes it so, and what it is of where that is known. */
type Endless = { option: string; why: string; medium: "V" | "A" | null }

/** Outputs that would never end, since nothing of their inputs does. */
export function checkEnds(command: ReadCommand, known: Known): Refusal[] {
  const inputs = command.files.filter(({ kind }) => kind === "input")
  const outputs = command.files.filter(({ kind }) => kind === "output")
  const endless = inputs.map((input) => describeEndless(input, known))
  const [first] = endless.filter((each) => each !== null)
  if (!first || outputs.length === 0) return []
  const filters = graphsOf(command)
    .filter(({ kind }) => kind !== "source")
    .flatMap(({ text }) => {
      const read = readChains(text)
      return "error" in read ? [] : read.chains.flat()
    })
  if (filters.some(mayEnd)) return []
  const isComplex = command.files.some(({ options }) => {
    return options.some(({ name }) => name === "filter_complex" || name === "lavfi")
  })
  const lasting = outputs.find((output) => isEndless(output, { inputs, endless, isComplex }))
  if (!lasting) return []
  const hasOthers = endless.includes(null)
  const shortest = hasOthers ? ", or -shortest, which ends with the shortest input" : ""
  const message = `${first.option}: ${first.why}, so that ${lasting.word === "-" ? "the command" : `"${lasting.word}"`} would never be done; write -t and its seconds before the output${shortest}`
  return [{ code: "endless_input", option: first.option, message }]
}

function describeEndless(input: ReadFile, known: Known): Endless | null {
  if (input.options.some(({ name }) => name === "t" || name === "to")) return null
  const loops = Number(lastValue(input, "stream_loop") ?? 0)
  if (loops < 0) {
    const why = "it repeats its input without end"
    return { option: "-stream_loop", why, medium: null }
  }
  if (/^(?:1|true|on|yes)$/.test(lastValue(input, "loop") ?? "")) {
    const why = "it repeats a picture without end"
    return { option: "-loop", why, medium: "V" }
  }
  if (lastValue(input, "f")?.toLowerCase() !== "lavfi") return null
  const read = readChains(input.word)
  if ("error" in read) return null
  const filters = read.chains.flat()
  const sources = filters.filter((filter) => isSource(filter, known))
  const areLasting = sources.length > 0 && sources.every((source) => !hasLength(source, known))
  if (!areLasting || filters.some(mayEnd)) return null
  const media = new Set(sources.map(({ name }) => known.find("filters", name)?.meta.slice(-1)))
  const medium = media.size === 1 && (media.has("V") ? "V" : media.has("A") && "A")
  const why = `the source ${sources[0]?.name ?? ""} has no end; give it one, as duration=5`
  return { option: "-i", why, medium: medium || null }
}

function isSource({ name }: ChainFilter, known: Known): boolean {
  const entry = known.find("filters", name)
  return entry?.meta.includes("|>") === true && !/movie$|buffer$|^flite$|^haldclut/.test(name)
}

function hasLength({ name, options }: ChainFilter, known: Known): boolean {
  const own = known.find("filters", name)?.options ?? []
  return options.some((option, place) => {
    const names = option.name === null ? (own[place]?.names ?? []) : [option.name]
    return names.some((each) => /^(?:duration|d|nb_frames|end|end_pts|frames)$/.test(each))
  })
}

/** Whether a filter may end what goes through it, or says that it does. */
function mayEnd({ name, options }: ChainFilter): boolean {
  if (
    /^a?(?:trim|select|segment|loop|reverse|freezeframes|concat|sendcmd|streamselect)$/.test(name)
  )
    return true
  if (
    /^(?:shuffleframes|thumbnail|tile|movie|amovie|xfade|acrossfade|apad|tpad|framerate|afir|sidechain\w+)$/.test(
      name,
    )
  )
    return true
  return options.some(({ name: option, value }) => {
    return (
      /^(?:shortest|duration|eof_action|end|nb_frames)$/.test(option ?? "") || value === "shortest"
    )
  })
}

type Facts = {
  inputs: readonly ReadFile[]
  endless: readonly (Endless | null)[]
  isComplex: boolean
}

/** Whether an output certainly has no end. */
function isEndless(output: ReadFile, { inputs, endless, isComplex }: Facts): boolean {
  if (output.options.some(({ name }) => BOUNDS.test(name))) return false
  if (endless.every((each) => each !== null)) return true
  if (isComplex || output.options.some(({ name }) => name === "shortest")) return false
  const maps = output.options.filter(({ name }) => name === "map")
  if (maps.length > 0) {
    return maps.some(({ value }) => {
      const place = /^(\d+)(?::|$)/.exec(value ?? "")?.[1]
      return place !== undefined && Boolean(endless[Number(place)])
    })
  }
  const left = new Set(output.options.map(({ name }) => name))
  return endless.some((each, place) => {
    if (!each?.medium || left.has(each.medium === "V" ? "vn" : "an")) return false
    const others = inputs.filter((_, at) => at !== place)
    const isOther = each.medium === "V" ? SOUND_NAME : PICTURE_NAME
    return others.every(({ word }) => isOther.test(word))
  })
}
