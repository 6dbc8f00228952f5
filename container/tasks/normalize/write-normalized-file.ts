import { rename } from "node:fs/promises"
import { createCallerFailure } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { buildWorkspacePath } from "../../sandbox/workspace.ts"
import { chooseNormalizedFormat, chooseFallbackFormat } from "../../tools/loudness/choose-format.ts"
import type { NormalizedFormat } from "../../tools/loudness/choose-format.ts"
import { sourceContainerName } from "../../tools/loudness/audio-containers.ts"
import {
  planLoudnessRangeCompression,
  planLoudnessGain,
  strengthenLoudnessRangeCompression,
} from "../../tools/loudness/gain.ts"
import type { LoudnessGain } from "../../tools/loudness/gain.ts"
import type { StreamLoudness } from "../../tools/loudness/loudness-meter.ts"
import type { FinishedFfmpegRun } from "../../tools/ffmpeg/run-ffmpeg.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { applyGains } from "./apply-gains.ts"
import type { MeasuredInput } from "./apply-gains.ts"
import {
  loudnessRangeCompressionFilters,
  channelLayoutFilters,
} from "../../tools/loudness/gain-filters.ts"
import { measureStreamLoudness } from "./measure-streams.ts"

/** Normalized file in the workspace, ready to be stored. */
export type NormalizedFile = {
  name: string
  container: string
  /** Codecs of the audio streams. */
  codecs: string[]
  gains: LoudnessGain[]
  after: StreamLoudness[]
  /** Runs of ffmpeg that wrote the normalized file; empty if the file is the unchanged input. */
  runs: FinishedFfmpegRun[]
}

const PLAN_SHARE = { from: 0.3, to: 0.35 }

/**
 * Writes the normalized file to the workspace. If no audio stream needs a gain, the result is the
 * unchanged input.
 */
export async function writeNormalizedFile(
  context: RunContext,
  clock: RunClock,
  file: MeasuredInput,
): Promise<NormalizedFile | TaskFailure> {
  const gains = await planGains(context, clock, file, PLAN_SHARE)
  if ("failure" in gains) return gains
  if (gains.every(({ type }) => type === "none")) return await keepInput(context, file, gains)
  const format = chooseNormalizedFormat(file.source)
  if (!format) {
    const message = "The input has more audio channels than any supported output format."
    return createCallerFailure("invalid_input", message)
  }
  const attempt = await writeInFormat(context, clock, file, { gains, format })
  if (!("failure" in attempt) || !isFormatFailure(attempt)) return attempt
  // If ffmpeg could not write this format, tries the fallback format, which accepts nearly all
  // streams.
  const other = chooseFallbackFormat(file.source)
  const retry =
    other && other.container !== format.container
      ? await writeInFormat(context, clock, file, { gains, format: other })
      : attempt
  return "failure" in retry && isFormatFailure(retry) ? { ...retry, blame: "ours" } : retry
}

async function writeInFormat(
  context: RunContext,
  clock: RunClock,
  file: MeasuredInput,
  { gains, format }: { gains: LoudnessGain[]; format: NormalizedFormat },
): Promise<NormalizedFile | TaskFailure> {
  const name = `output.${format.extension}`
  const sound = await applyGains(context, clock, file, { gains, format, output: name })
  if ("failure" in sound) return sound
  const { codecs, container } = format
  return { ...sound, runs: [sound.run], name, container: container.name, codecs }
}

/** Renames the unchanged input to the name of the output. */
async function keepInput(
  { workspace }: RunContext,
  { input, source, before }: MeasuredInput,
  gains: LoudnessGain[],
): Promise<NormalizedFile> {
  const name = source.extension === "" ? "output" : `output.${source.extension}`
  await rename(buildWorkspacePath(workspace, input), buildWorkspacePath(workspace, name))
  const codecs = source.audio.map(({ codec }) => codec)
  return { name, container: sourceContainerName(source), codecs, gains, after: before, runs: [] }
}

/** Reports whether a failure was caused by the output format, and not by a limit or the runner. */
function isFormatFailure({ blame, failure: { code } }: TaskFailure): boolean {
  const codes = ["command_failed", "encoder_not_found", "filter_error", "invalid_option"]
  return blame === "caller" && codes.includes(code)
}

/**
 * Maximum number of attempts to reduce the loudness range of a stream by a compressor. Each attempt
 * compresses more than the previous attempt.
 */
const COMPRESSIONS_MAX = 2

/**
 * Plans the gain of each audio stream. If the loudness range of a stream is too wide, plans a
 * compressor too, and measures the compressed stream before the gain is planned.
 */
async function planGains(
  context: RunContext,
  clock: RunClock,
  { input, source, before, target }: MeasuredInput,
  share: { from: number; to: number },
): Promise<LoudnessGain[] | TaskFailure> {
  let compressions = before.map((measured) => planLoudnessRangeCompression(measured, target))
  let measured = before
  for (let count = 0; count < COMPRESSIONS_MAX; count += 1) {
    const compressed = compressions.flatMap((compression, order) => {
      const stream = source.audio[order]
      return compression && stream ? [{ compression, order, stream }] : []
    })
    if (compressed.length === 0) break
    const streams = compressed.map(({ compression, stream }) => ({
      specifier: String(stream.index),
      rate: stream.rate,
      filters: [
        ...channelLayoutFilters(stream),
        ...loudnessRangeCompressionFilters(compression, stream),
      ],
    }))
    const behind = await measureStreamLoudness(context, clock, { name: input, streams, ...share })
    if ("failure" in behind) return behind
    measured = before.map((each, order) => {
      const at = compressed.findIndex((one) => one.order === order)
      return behind.measured[at] ?? each
    })
    const stronger = compressions.map((each, order) =>
      strengthenLoudnessRangeCompression(each, measured[order], target),
    )
    if (count + 1 === COMPRESSIONS_MAX || stronger.every((each) => each === null)) break
    compressions = compressions.map((each, order) => stronger[order] ?? each)
  }
  return measured.map((each, order) => planLoudnessGain(each, target, compressions[order] ?? null))
}
