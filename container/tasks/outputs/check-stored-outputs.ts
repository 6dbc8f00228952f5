import {
  computeTrimmedSeconds,
  findLastOptionValue,
  parseFfmpegCommand,
} from "../../../src/ffmpeg/command-line.ts"
import type { CommandFile } from "../../../src/ffmpeg/command-line.ts"
import type { TaskInput, TaskOutput } from "../../../src/contract/task.ts"
import { TASK_WARNINGS_MAX } from "../../../src/contract/warning.ts"
import type { Warning } from "../../../src/contract/warning.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { inputDamageWarning, isCertainInputDamage } from "../../tools/ffmpeg/input-damage.ts"
import { cleanToolLines } from "../../tools/ffmpeg/explain-failure.ts"
import type { FinishedFfmpegRun } from "../../tools/ffmpeg/run-ffmpeg.ts"
import type { FfmpegRunDetails } from "../../tools/ffmpeg/run-facts.ts"
import {
  isStreamCopyPastInputEnd,
  isTextOutput,
  emptyOutputFailure,
  findRunThatWroteOutput,
} from "./empty-output.ts"
import type { StoredOutput } from "./store-outputs.ts"
import type { RunContext } from "../run-context.ts"
import { doesFormatStoreExactDuration } from "../../../src/contract/probe.ts"
import type { ProbeResult } from "../../../src/contract/probe.ts"
import { formatSecondsForMessage } from "../../../src/ffmpeg/media-time.ts"
import { probeFile } from "../../tools/ffmpeg/probe-file.ts"
import { computeMinimumStreamSeconds } from "../../tools/ffmpeg/media-content.ts"

const NOTHING = "holds no picture and no sound"
const NO_REQUESTED_STREAM = "holds none of the requested streams"
/**
 * Possible packet lengths of an MPEG transport stream, in bytes: of a plain packet, of a packet
 * with a timestamp, and of a packet with error correction.
 */
const TRANSPORT_PACKET_BYTES = [188, 192, 204]
/**
 * Matches the names of containers in which ffprobe lists every stream that ffmpeg has mapped, even
 * a stream without content.
 */
const CONTAINERS = /^(?:mov|matroska|avi|mpegts|flv|asf|nut|ogg)(?:,|$)/

/**
 * Checks the content of stored outputs. Returns the failure for the first output that has neither
 * picture nor sound although it should. Otherwise returns warnings about all outputs.
 */
export async function checkStoredOutputs(
  context: RunContext,
  outputs: readonly { output: TaskOutput; stored: StoredOutput }[],
  runs: readonly FinishedFfmpegRun[],
): Promise<TaskFailure | Warning[]> {
  const warnings = runs.flatMap((run) => findInputDamageWarnings(context, run))
  for (const { output, stored } of outputs) {
    if (isTextOutput(output, runs)) continue
    const run = findRunThatWroteOutput(output, runs)
    if (isEmpty(stored, run)) return emptyOutputFailure(output, NOTHING, runs)
    if (!run) continue
    if (isStreamCopyPastInputEnd(output, run))
      return emptyOutputFailure(output, NO_REQUESTED_STREAM, runs)
    const label = `The output ${output.key} ("${output.name}")`
    warnings.push(...findEmptyStreams(label, output, stored, run))
    const { probe } = stored.report
    const short = probe && (await findShortfall(context, run, { label, name: output.name, probe }))
    if (short) warnings.push(short)
  }
  const unique = new Map(warnings.map((each) => [each.message, each]))
  return [...unique.values()].slice(0, TASK_WARNINGS_MAX)
}

/**
 * Returns the failure for a bundle (an output of several files) that has neither picture nor sound.
 */
export function emptyBundleFailure(
  output: TaskOutput,
  runs: readonly FinishedFfmpegRun[],
): TaskFailure {
  return emptyOutputFailure(output, NOTHING, runs)
}

function isEmpty({ report, content }: StoredOutput, run: FinishedFfmpegRun | null): boolean {
  if (report.members) return false
  if (content.isEmpty !== null) return content.isEmpty
  const noted = run?.notes.outputs
  if (report.probe) return content.covers > 0 && noted !== undefined && noted.size > 0
  // If ffprobe cannot read the format, the summary that ffmpeg printed at its end tells whether the
  // output is empty.
  return noted?.size === 1 && run?.notes.hasWritten === false
}

const KINDS = [
  { type: "video", what: "picture" },
  { type: "audio", what: "sound" },
] as const

/**
 * Returns a warning if an output has fewer video or audio streams with content than ffmpeg has
 * mapped to the output.
 */
function findEmptyStreams(
  label: string,
  { name }: TaskOutput,
  { report, content }: StoredOutput,
  run: FinishedFfmpegRun,
): Warning[] {
  const noted = run.notes.outputs.get(name)
  if (!noted || content.isEmpty !== false) return []
  if (!CONTAINERS.test(report.probe?.format_name ?? "")) return []
  const written = run.notes.written(noted.index)
  return KINDS.flatMap(({ type, what }) => {
    const mapped = noted[type]
    const isNoneWritten = written !== null && written[type] === 0
    const found = content.streams.filter(
      (each) => each.type === type && (each.isFilled ?? !isNoneWritten),
    ).length
    if (found >= mapped) return []
    const streams = mapped === 1 ? `a ${what} stream` : `${mapped} ${what} streams`
    const missing = found === 0 ? "it has none" : `it has ${found}`
    const message = `${label} should have ${streams}, and ${missing} with content: check the maps and filters of the command.`
    return [{ code: "empty_stream" as const, message }]
  })
}

/**
 * Returns warnings for inputs that ffmpeg has reported as damaged, and for inputs that are MPEG
 * transport streams ending within a packet.
 */
export function findInputDamageWarnings(
  { order, workspace }: RunContext,
  { argv, notes }: FinishedFfmpegRun,
): Warning[] {
  const names = [...new Set(inputWords(argv))]
  const cut = order.inputs.filter((input) => endsWithinPacket(input, notes.inputs.get(input.name)))
  // Ignores incomplete packets if inputs were concatenated, because the point at which two
  // transport streams meet looks like a damaged packet.
  const isJoined = notes.isJoined || names.some((name) => name.startsWith("concat:"))
  const formats = inputWords(argv).map((name) => formatOf(name, notes, order.inputs))
  const damage = notes.damage.filter(
    (each) => isCertainInputDamage(each, formats) && !(isJoined && each.kind === "packet"),
  )
  const [line] = cleanToolLines(damage.map((each) => each.line).join("\n"), workspace)
  const [only = null] = names.length === 1 ? names : names.filter((name) => line?.includes(name))
  return [
    ...(line === undefined ? [] : [inputDamageWarning(only, line)]),
    ...cut
      .filter(({ name }) => line === undefined || name !== only)
      .map(({ name }) => inputDamageWarning(name, "it ends within a packet")),
  ]
}

/**
 * Returns the format of an input as ffmpeg has reported it, or else the extension of the input's
 * file name. For a concat list, adds the extensions of all inputs, since the list may name any
 * input.
 */
function formatOf(name: string, { inputs }: FfmpegRunDetails, files: readonly TaskInput[]): string {
  const format = inputs.get(name)?.format
  if (format === "concat") return [format, ...files.map((file) => endOf(file.name))].join(",")
  return format ?? endOf(name)
}

function endOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase()
}

function inputWords(argv: readonly string[]): string[] {
  const inputs = parseFfmpegCommand(argv).files.filter(({ kind }) => kind === "input")
  return inputs.map(({ word }) => word)
}

function endsWithinPacket({ size_bytes: bytes }: TaskInput, noted?: { format: string }): boolean {
  return noted?.format === "mpegts" && TRANSPORT_PACKET_BYTES.every((length) => bytes % length > 0)
}

/**
 * Options whose effect on the duration of an output is none or can be computed. A command with any
 * other option gets no warning about its duration, since a wrong warning is worse than none.
 */
const HARMLESS_OPTIONS = new Set(
  [
    "y n hide_banner stats stdin v loglevel threads filter_threads stats_period",
    "ss t to an vn sn dn map c codec vcodec acodec scodec dcodec f",
    "b crf cq q qp qscale preset tune profile level g keyint_min sc_threshold bf refs maxrate",
    "minrate bufsize pix_fmt s aspect tag ar ac channel_layout sample_fmt compression_level",
    "movflags brand metadata map_metadata map_chapters disposition id3v2_version write_xing",
    "deadline quality cpu-used row-mt application vbr lossless strict x264-params x265-params",
    "x264opts svtav1-params aom-params max_muxing_queue_size avoid_negative_ts accurate_seek",
  ]
    .join(" ")
    .split(" "),
)
/**
 * Matches a filter of one stream that does not change the stream's duration. The values of the
 * filter must contain no quotes or escapes.
 */
const HARMLESS_FILTERS =
  /^(?:scale|crop|pad|format|hflip|vflip|transpose|eq|hue|setsar|setdar|unsharp|hqdn3d|volume|aresample|aformat|highpass|lowpass)(?:=[^,;[\]'"\\]*)?$/
const FILTERS = new Set(["vf", "af", "filter"])
/** Matches formats for which ffprobe reports an exact duration. */
const EXACT_FORMATS = /^(?:mov|matroska|wav|flac|ogg|mp3|mpegts)(?:,|$)/

/**
 * Minimum shortfall of an output's duration that causes a warning: as a share of the expected
 * duration, and in seconds.
 */
const SHORTFALL_SHARE_MIN = 0.1
const SHORTFALL_SECONDS_MIN = 0.5

/**
 * Returns the warning for an output that is much shorter than expected from the duration of its
 * only input. Returns null if the output is long enough, or if its duration cannot be predicted.
 */
async function findShortfall(
  context: RunContext,
  run: FinishedFfmpegRun,
  written: { label: string; name: string; probe: ProbeResult },
): Promise<Warning | null> {
  const { files } = parseFfmpegCommand(run.argv)
  const output = files.findLast(({ kind, word }) => kind === "output" && word === written.name)
  const inputs = files.filter(({ kind }) => kind === "input")
  const [input] = inputs
  const seconds = written.probe.duration
  if (!output || !input || inputs.length > 1 || seconds === undefined) return null
  if (!EXACT_FORMATS.test(written.probe.format_name)) return null
  if (!isJudged(input) || !isJudged(output) || findLastOptionValue(input, "f") !== null) return null
  const noted = run.notes.inputs.get(input.word)
  if (!noted || noted.seconds === null) return null
  if (noted.isEstimate || !doesFormatStoreExactDuration(noted.format)) return null
  const whole = noted.seconds - noted.startSeconds
  if (!isShort(seconds, expectedSeconds(input, output, whole))) return null
  // Probes the input, since the output is expected to be short if one stream of the input is
  // shorter than the others. This check comes last because the probe takes time.
  const shortest = await shortestStream(context, input.word, written.probe)
  const expected = shortest === null ? null : expectedSeconds(input, output, shortest)
  if (expected === null || !isShort(seconds, expected)) return null
  const message = `${written.label} lasts ${formatSecondsForMessage(seconds)}, and ${formatSecondsForMessage(expected)} were expected from ${input.word}: it may be damaged or incomplete.`
  return { code: "shorter_than_expected", message }
}

function isJudged({ kind, options }: CommandFile): boolean {
  const isCopied = options.some(
    ({ name, value }) => /^(?:c|codec|[va]codec)$/.test(name) && value === "copy",
  )
  return options.every(({ name, value }) => {
    if (FILTERS.has(name))
      return (value ?? "").split(",").every((each) => HARMLESS_FILTERS.test(each.trim()))
    // Excludes stream copies with `-ss` as an output option. Such a copy starts at the next
    // keyframe, so that the duration of the copy cannot be predicted.
    if (name === "ss" && kind === "output" && isCopied) return false
    return HARMLESS_OPTIONS.has(name)
  })
}

/** Returns the expected duration of an output, in seconds; null if its options cannot be parsed. */
function expectedSeconds(input: CommandFile, output: CommandFile, seconds: number): number | null {
  const left = computeTrimmedSeconds(input, seconds)
  return left === null ? null : computeTrimmedSeconds(output, left)
}

function isShort(seconds: number, expected: number | null): boolean {
  if (expected === null || expected - seconds < SHORTFALL_SECONDS_MIN) return false
  return seconds < expected * (1 - SHORTFALL_SHARE_MIN)
}

/**
 * Returns the duration, in seconds, of the shortest input stream among the streams whose type
 * (video or audio) the output has too. Returns null if the duration of a stream is unknown.
 */
async function shortestStream(
  { settings, taskSandbox, workspace, signal }: RunContext,
  name: string,
  output: ProbeResult,
): Promise<number | null> {
  const tool = settings.toolPaths.ffprobe
  const probed = await probeFile({ tool, taskSandbox, workspace, name, signal })
  if (!("probe" in probed)) return null
  const types = new Set(output.streams.map((stream) => stream["codec_type"]))
  const { streams, duration = 0 } = probed.probe
  const lengths = streams
    .filter((stream) => types.has(stream["codec_type"]))
    // If the file has only this stream, the duration of the file may be used for the stream.
    .flatMap(
      (stream) => computeMinimumStreamSeconds(stream, streams.length === 1 ? duration : null) ?? [],
    )
  return lengths.length > 0 && lengths.every((length) => length > 0) ? Math.min(...lengths) : null
}
