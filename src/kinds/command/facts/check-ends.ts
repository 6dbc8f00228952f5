import { allOptions, lastValue } from "../../../contract/command-line.ts"
import type { ReadCommand } from "../../../contract/command-line.ts"
import { findEndlessInput } from "../../../contract/endless.ts"
import type { Refusal } from "../policy/refusal.ts"
import type { Probes } from "./check-streams.ts"
import { letterOf } from "./check-streams.ts"
import { muxersOf } from "./codecs.ts"
import { metaOf } from "./known.ts"
import type { Known } from "./known.ts"

/** Options that end an output, or that say which streams come into it. */
const BOUNDING =
  /^(?:t|to|fs|[vad]?frames|shortest|map|[vasd]n|filter_complex\w*|lavfi|attach|target|\/.*)$/
/** Words of a graph that may end a stream. */
const BOUNDING_GRAPH = /trim|end|shortest|duration|first|select|segment|eof/
/** Files that ffmpeg goes back in, so that it repeats them without end. */
const REPEATED_NAME =
  /\.(?:mp4|m4v|mov|mkv|webm|ts|mp3|m4a|aac|wav|flac|og[ag]|opus|avi|gif|png|webp)$/i
const GRAPH_NAMES = /^(?:vf|af|filter|filter_script)$/

/** Refuses an input without an end, in a command that no word of its own could end. */
export function checkEnds(command: ReadCommand, known: Known, probes: Probes): Refusal[] {
  const isBound = allOptions(command).some(({ name, value }) => {
    return BOUNDING.test(name) || (GRAPH_NAMES.test(name) && BOUNDING_GRAPH.test(value ?? ""))
  })
  const inputs = command.files.filter(({ kind }) => kind === "input")
  const outputs = command.files.filter(({ kind }) => kind === "output")
  const endless = inputs.flatMap((input) => {
    const found = findEndlessInput(input)
    const format = lastValue(input, "f")
    // A graph of several chains may end with one of its sources, and not each format is repeated.
    const isSure =
      format === "lavfi"
        ? !/[[;]/.test(input.word) && lastValue(input, "stream_loop") === null
        : !found?.why.startsWith("-stream_loop") ||
          format === "concat" ||
          REPEATED_NAME.test(input.word)
    return found && isSure ? [{ input, ...found }] : []
  })
  const [first] = endless
  const [output] = outputs
  if (!first || !output || isBound) return []
  const finite = inputs.filter((input) => endless.every((each) => each.input !== input))
  // An output takes the streams of one input alone where no other input has some of that medium.
  const { medium } = first
  const isAlone = finite.every(({ word }) => {
    const streams = probes.get(word)?.streams
    return medium !== null && streams && !streams.some((stream) => letterOf(stream) === medium)
  })
  const muxers = muxersOf(output, known)
  const [codec] = muxers?.length === 1 ? muxers.flatMap((muxer) => metaOf(muxer, medium ?? "")) : []
  // Files of sound take covers alone for their picture.
  const isTaken = codec !== undefined && codec !== "png"
  if (finite.length > 0 && !(isAlone && isTaken)) return []
  const shortest = finite.length > 0 ? ", or -shortest, which ends with the shortest stream" : ""
  const option = /^-[a-z_]+/.exec(first.why)?.[0] ?? "-i"
  const message = `${option}: ${first.name} has no end: ${first.why}, so that "${output.word}" would never be done; write -t and its seconds before the output${shortest}, or ${first.mend}`
  return [{ code: "endless_input", option, message }]
}
