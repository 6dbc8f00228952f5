import {
  parseFfmpegCommand,
  findLastOptionValue,
  listAllOptions,
} from "../../../ffmpeg/command-line.ts"
import { collectFaults } from "../../../ffmpeg/policy/refusal.ts"
import type { CommandRefusal } from "../../../ffmpeg/policy/refusal.ts"
import { findCodecRefusals } from "./check-codecs.ts"
import { findGraphRefusals, parseGraphs } from "./check-graphs.ts"
import { findOptionRefusals, findTrailingOptionRefusals } from "./check-options.ts"
import { findStreamRefusals, findStreamTypeLetter } from "./check-streams.ts"
import type { ProbesByName } from "./check-streams.ts"
import type { FfmpegCapabilities } from "./capabilities.ts"
import type { ParsedCommand, CommandFile } from "../../../ffmpeg/command-line.ts"
import { findEncoder, findOutputMuxers } from "./codecs.ts"
import { findEndlessInput } from "../../../ffmpeg/endless.ts"
import { getComponentMetaValues } from "./capabilities.ts"

/** Names of options that may end an output, or may leave an endless stream out of it. */
const BOUNDING =
  /^(?:t|to|fs|[vad]?frames|shortest|map|[vasd]n|filter_complex\w*|filter_script|lavfi|attach|target|\/.*)$/
/** Words in a filter graph that may end a stream, so that the output is not certainly endless. */
const BOUNDING_GRAPH = /trim|end|shortest|duration|first|select|segment|eof/
/** File names whose formats ffmpeg can rewind, so that `-stream_loop` can repeat the file. */
const REPEATED_NAME =
  /\.(?:mp4|m4v|mov|mkv|webm|ts|mp3|m4a|aac|wav|flac|og[ag]|opus|avi|gif|png|webp)$/i
const GRAPH_NAMES = /^(?:vf|af|filter)$/

/**
 * Returns a refusal of an endless input, if no option and no filter of the command can end the
 * output.
 */
function checkEnds(
  command: ParsedCommand,
  capabilities: FfmpegCapabilities,
  probes: ProbesByName,
): CommandRefusal[] {
  const isBound = listAllOptions(command).some(({ name, value }) => {
    return BOUNDING.test(name) || (GRAPH_NAMES.test(name) && BOUNDING_GRAPH.test(value ?? ""))
  })
  const inputs = command.files.filter(({ kind }) => kind === "input")
  const outputs = command.files.filter(({ kind }) => kind === "output")
  const endless = inputs.flatMap((input) => {
    const found = findEndlessInput(input)
    const format = findLastOptionValue(input, "f")
    // Two kinds of input are not certainly endless. A lavfi graph with several chains may end with
    // one of its sources. The option -stream_loop has no effect on formats that ffmpeg cannot
    // rewind.
    const isSure =
      format === "lavfi"
        ? !/[[;]/.test(input.word) && findLastOptionValue(input, "stream_loop") === null
        : !found?.reason.startsWith("-stream_loop") ||
          format === "concat" ||
          REPEATED_NAME.test(input.word)
    return found && isSure ? [{ input, ...found }] : []
  })
  const [first] = endless
  const [output] = outputs
  if (!first || !output || isBound) return []
  const finite = inputs.filter((input) => endless.every((other) => other.input !== input))
  // The output certainly contains the endless stream only if no other input has a stream of the
  // same medium.
  const { medium } = first
  const isAlone = finite.every(({ word }) => {
    const streams = probes.get(word)?.streams
    return (
      medium !== null &&
      streams &&
      !streams.some((stream) => findStreamTypeLetter(stream) === medium)
    )
  })
  const muxers = findOutputMuxers(output, capabilities)
  const [codec] =
    muxers?.length === 1
      ? muxers.flatMap((muxer) => getComponentMetaValues(muxer, medium ?? ""))
      : []
  // Audio formats have png as their default video codec, for cover art. An output in such a format
  // does not contain the endless video.
  const isWritten = codec !== undefined && codec !== "png"
  if (finite.length > 0 && !(isAlone && isWritten)) return []
  const shortest = finite.length > 0 ? ", use -shortest to end with the shortest stream" : ""
  const option = /^-[a-z_]+/.exec(first.reason)?.[0] ?? "-i"
  const message = `${option}: ${first.name} is endless: ${first.reason}, so "${output.word}" would never finish; write -t with the seconds before the output${shortest}, or ${first.remedy}`
  return [{ code: "endless_input", option, message }]
}

/**
 * Width and height as plain numbers, in the value of -s or of a filter graph with one scale filter.
 */
const WRITTEN_SIZE = /^(?:scale=)?(?:w(?:idth)?=)?(\d+)[x:](?:h(?:eight)?=)?(\d+)$/

/**
 * Returns refusals of odd widths and heights for H.264 and H.265 in yuv420p, if the command states
 * the size in numbers.
 */
function checkSizes(
  command: ParsedCommand,
  capabilities: FfmpegCapabilities,
  probes: ProbesByName,
): CommandRefusal[] {
  return command.files.flatMap((file) => {
    if (file.kind !== "output") return []
    const encoder = findEncoder(file, "V", capabilities)
    const option = file.options.findLast(({ name, word }) => {
      return name === "s" || name === "vf" || word === "-filter:v"
    })
    const sides = WRITTEN_SIZE.exec(option?.value ?? "")?.slice(1) ?? []
    const odd = sides.map(Number).find((side) => side % 2 === 1)
    const isHalved = /^libx26[45]$/.test(encoder ?? "") && findPixelFormat(file, command, probes)
    const isOther = file.options.some(({ name }) => /^(?:target|vn|map|filter\w+)$/.test(name))
    if (!option || odd === undefined || isHalved !== "yuv420p" || isOther) return []
    const message = `${option.word}: ${encoder} needs even widths and heights in yuv420p, and ${sides.join("x")} has ${odd}; write ${odd - 1} or ${odd + 1}, or -2 to derive a side from the other, as in scale=640:-2`
    return [{ code: "invalid_option", option: option.word, message }]
  })
}

/**
 * Returns the pixel format of an output: the value of -pix_fmt, or else the format of the video if
 * the command has one input with one video stream. Returns null in all other cases.
 */
function findPixelFormat(
  file: CommandFile,
  { files }: ParsedCommand,
  probes: ProbesByName,
): string | null {
  const own = findLastOptionValue(file, "pix_fmt")
  if (own !== null) return own
  const [input, ...others] = files.filter(({ kind }) => kind === "input")
  const streams = probes.get(input?.word ?? "")?.streams ?? []
  const [video, ...more] = streams.filter(({ codec_type: type }) => type === "video")
  const format = video?.["pix_fmt"]
  return others.length + more.length === 0 && typeof format === "string" ? format : null
}

/**
 * Returns the reasons why a command would certainly fail: unknown names, undefined labels, missing
 * streams and common mistakes. ffmpeg reports all other errors when it runs. The `words` contain
 * file names instead of keys. `probes` has the ffprobe results of inputs by file name.
 */
export function findCapabilityRefusals(
  words: readonly string[],
  capabilities: FfmpegCapabilities,
  probes: ProbesByName,
): CommandRefusal[] {
  const command = parseFfmpegCommand(words)
  const graphs = parseGraphs(command)
  return [
    ...collectFaults(command.files, (file) => [
      ...findOptionRefusals(file, capabilities),
      ...findCodecRefusals(file, capabilities),
    ]),
    ...collectFaults(command.trailing, (option) =>
      findTrailingOptionRefusals(option, capabilities),
    ),
    ...findGraphRefusals(command, graphs, capabilities),
    ...findStreamRefusals(command, graphs, probes),
    ...checkSizes(command, capabilities, probes),
    ...checkEnds(command, capabilities, probes),
  ]
}
