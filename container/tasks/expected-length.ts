import { hasExactLength } from "../../src/contract/probe.ts"
import { lastValue, readCommand, secondsLeft } from "../../src/contract/command-line.ts"
import type { ReadFile } from "../../src/contract/command-line.ts"
import { describeSeconds } from "../../src/contract/media-time.ts"
import type { ProbeResult } from "../../src/contract/probe.ts"
import type { Warning } from "../../src/contract/warning.ts"
import { probeFile } from "../tools/ffprobe.ts"
import { leastSeconds } from "../tools/media-content.ts"
import type { FinishedRun } from "../tools/run-ffmpeg.ts"
import type { RunContext } from "./run-context.ts"

/**
 * Options that leave the length of what is made as it is. A command with any other is not judged:
 * a wrong warning is worse than none.
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
/** Filters of one stream that keep its length, where their values need no quotes. */
const HARMLESS_FILTERS =
  /^(?:scale|crop|pad|format|hflip|vflip|transpose|eq|hue|setsar|setdar|unsharp|hqdn3d|volume|aresample|aformat|highpass|lowpass)(?:=[^,;[\]'"\\]*)?$/
const FILTERS = new Set(["vf", "af", "filter"])
/** Formats of outputs of which the probe tells how long they are. */
const EXACT_FORMATS = /^(?:mov|matroska|wav|flac|ogg|mp3|mpegts)(?:,|$)/

/** What is missing must be so much of the whole, and so many seconds. */
const SHORTFALL_SHARE_MIN = 0.1
const SHORTFALL_SECONDS_MIN = 0.5

/** The warning of an output that is much shorter than its one input promised; null elsewhere. */
export async function findShortfall(
  context: RunContext,
  run: FinishedRun,
  made: { label: string; name: string; probe: ProbeResult },
): Promise<Warning | null> {
  const { files } = readCommand(run.argv)
  const output = files.findLast(({ kind, word }) => kind === "output" && word === made.name)
  const inputs = files.filter(({ kind }) => kind === "input")
  const [input] = inputs
  const seconds = made.probe.duration
  if (!output || !input || inputs.length > 1 || seconds === undefined) return null
  if (!EXACT_FORMATS.test(made.probe.format_name)) return null
  if (!isJudged(input) || !isJudged(output) || lastValue(input, "f") !== null) return null
  const noted = run.notes.inputs.get(input.word)
  if (!noted || noted.seconds === null) return null
  if (noted.isEstimate || !hasExactLength(noted.format)) return null
  const whole = noted.seconds - noted.startSeconds
  if (!isShort(seconds, expectedOf(input, output, whole))) return null
  // Only a suspect costs another probe: one of its streams may be shorter than the rest.
  const shortest = await shortestStream(context, input.word, made.probe)
  const expected = shortest === null ? null : expectedOf(input, output, shortest)
  if (expected === null || !isShort(seconds, expected)) return null
  const message = `${made.label} lasts ${describeSeconds(seconds)}, and ${describeSeconds(expected)} were to be expected of ${input.word}: it may be damaged or not complete.`
  return { code: "shorter_than_expected", message }
}

function isJudged({ kind, options }: ReadFile): boolean {
  const isCopied = options.some(
    ({ name, value }) => /^(?:c|codec|[va]codec)$/.test(name) && value === "copy",
  )
  return options.every(({ name, value }) => {
    if (FILTERS.has(name))
      return (value ?? "").split(",").every((each) => HARMLESS_FILTERS.test(each.trim()))
    // A copy that begins within a film waits for the next key frame.
    if (name === "ss" && kind === "output" && isCopied) return false
    return HARMLESS_OPTIONS.has(name)
  })
}

/** How long an output of an input should be; null where its options cannot be read. */
function expectedOf(input: ReadFile, output: ReadFile, seconds: number): number | null {
  const left = secondsLeft(input, seconds)
  return left === null ? null : secondsLeft(output, left)
}

function isShort(seconds: number, expected: number | null): boolean {
  if (expected === null || expected - seconds < SHORTFALL_SECONDS_MIN) return false
  return seconds < expected * (1 - SHORTFALL_SHARE_MIN)
}

/**
 * Seconds that the shortest stream of a kind that the output has lasts at least; null where one does
 * not say.
 */
async function shortestStream(
  { settings, taskSandbox, workspace, signal }: RunContext,
  name: string,
  made: ProbeResult,
): Promise<number | null> {
  const tool = settings.toolPaths.ffprobe
  const probed = await probeFile({ tool, taskSandbox, workspace, name, signal })
  if (!("probe" in probed)) return null
  const types = new Set(made.streams.map((stream) => stream["codec_type"]))
  const { streams, duration = 0 } = probed.probe
  const lengths = streams
    .filter((stream) => types.has(stream["codec_type"]))
    // A file of one stream lasts as long as that.
    .flatMap((stream) => leastSeconds(stream, streams.length === 1 ? duration : null) ?? [])
  return lengths.length > 0 && lengths.every((length) => length > 0) ? Math.min(...lengths) : null
}
