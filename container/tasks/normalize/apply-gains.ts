import type { TaskFailure } from "../../task-failure.ts"
import { buildWorkspacePath } from "../../sandbox/workspace.ts"
import {
  gainApplicationArguments,
  canMeasureWhileWriting,
  listKeptAudioPositions,
} from "../../tools/loudness/gain-arguments.ts"
import type { GainApplication } from "../../tools/loudness/gain-arguments.ts"
import type { NormalizedFormat } from "../../tools/loudness/choose-format.ts"
import {
  nameCoverFiles,
  coverExtractionArguments,
  writeCoverTagsFile,
} from "../../tools/loudness/cover-files.ts"
import type { CoverFile } from "../../tools/loudness/cover-files.ts"
import { computeCorrectedGain } from "../../tools/loudness/gain.ts"
import type { LoudnessGain, LoudnessTarget, LoudnessTolerance } from "../../tools/loudness/gain.ts"
import { channelLayoutFilters } from "../../tools/loudness/gain-filters.ts"
import { createLoudnessReader } from "../../tools/loudness/loudness-meter.ts"
import type { StreamLoudness } from "../../tools/loudness/loudness-meter.ts"
import { findAudioEncoder } from "../../tools/loudness/audio-encoders.ts"
import { readMovieHeader } from "../../tools/ffmpeg/movie-header.ts"
import type { NormalizationSource } from "../../tools/loudness/normalization-source.ts"
import type { FinishedFfmpegRun } from "../../tools/ffmpeg/run-ffmpeg.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { measureStreamLoudness } from "./measure-streams.ts"
import { runFfmpegPass } from "../run-ffmpeg-pass.ts"

/** Input in the workspace, the measured loudness of each audio stream, and the target loudness. */
export type MeasuredInput = {
  input: string
  source: NormalizationSource
  before: StreamLoudness[]
  target: LoudnessTarget
}

/**
 * Gains that were applied to the audio streams of a file, the loudness of the output, and the run
 * of ffmpeg that wrote the output.
 */
export type AppliedGains = {
  gains: LoudnessGain[]
  after: StreamLoudness[]
  run: FinishedFfmpegRun
}

type Share = { from: number; to: number }

const APPLICATIONS_MAX = 3
const APPLY_SHARE = { from: 0.35, to: 0.7 }
const VERIFY_SHARE = { from: 0.7, to: 0.99 }
const LAST_SHARE = { from: 0.99, to: 0.99 }

/**
 * Writes the output with gains applied, and measures the loudness of the output. If the codec or
 * the limiter has shifted the loudness, corrects the gains and writes the output again, at most
 * twice.
 */
export async function applyGains(
  context: RunContext,
  clock: RunClock,
  file: MeasuredInput,
  {
    gains: planned,
    format,
    output,
  }: { gains: LoudnessGain[]; format: NormalizedFormat; output: string },
): Promise<AppliedGains | TaskFailure> {
  const covers = await extractCovers(context, clock, file, format)
  if ("failure" in covers) return covers
  const { input, source, before, target } = file
  const isMovie = format.isSameContainer && format.container.demuxer === "mov"
  const movie = isMovie ? await readMovieHeader(buildWorkspacePath(context.workspace, input)) : null
  let gains = planned
  for (let count = 1; ; count += 1) {
    const shares = count === 1 ? [APPLY_SHARE, VERIFY_SHARE] : [LAST_SHARE, LAST_SHARE]
    const application = { input, output, source, format, gains, covers, movie }
    const applied = await applyAndMeasure(context, clock, { application, before, shares })
    if ("failure" in applied) return applied
    const { run, after } = applied
    const corrected = gains.map((gain, order) => {
      const measured = after[order]
      const tolerance = correctionTolerance(format.codecs[order])
      return measured ? computeCorrectedGain(gain, measured, target, tolerance) : null
    })
    const isMet = corrected.every((each) => each === null)
    if (isMet || count === APPLICATIONS_MAX) return { gains, after, run }
    gains = gains.map((gain, order) => corrected[order] ?? gain)
  }
}

/**
 * Writes the output and measures the loudness of the output. A single run of ffmpeg does both if
 * the codec cannot change the loudness.
 */
async function applyAndMeasure(
  context: RunContext,
  clock: RunClock,
  of: { application: GainApplication; before: readonly StreamLoudness[]; shares: readonly Share[] },
): Promise<Pick<AppliedGains, "after" | "run"> | TaskFailure> {
  const { application, before, shares } = of
  const [apply = LAST_SHARE, verify = LAST_SHARE] = shares
  const { source, format, gains, output } = application
  const argv = gainApplicationArguments(application)
  const reader = createLoudnessReader()
  const run = await runFfmpegPass(context, clock, {
    argv,
    ...apply,
    onStderrLine: reader.readStderr,
  })
  if ("failure" in run) return run
  if (canMeasureWhileWriting(application)) {
    const measured = await reader.end(context.workspace, source.audio.length)
    const after = measured.map((each, order) => {
      return gains[order]?.type === "none" ? (before[order] ?? each) : each
    })
    return { run, after }
  }
  const places = listKeptAudioPositions(source, format.container)
  const streams = source.audio.map((stream, order) => ({
    specifier: `a:${places[order] ?? order}`,
    rate: stream.rate,
    filters: channelLayoutFilters(stream),
  }))
  const measurement = await measureStreamLoudness(context, clock, {
    name: output,
    streams,
    ...verify,
  })
  return "failure" in measurement ? measurement : { run, after: measurement.measured }
}

/**
 * Returns the deviation from the target loudness above which a gain is corrected. The deviation is
 * smaller than the one above which the caller is warned of a missed target.
 */
function correctionTolerance(codec: string | undefined): Pick<LoudnessTolerance, "loudnessLu"> {
  return { loudnessLu: findAudioEncoder(codec ?? "")?.isLossless === true ? 0.2 : 0.4 }
}

/**
 * Extracts cover pictures to files if the output container cannot store cover pictures as streams.
 */
async function extractCovers(
  context: RunContext,
  clock: RunClock,
  { input, source }: MeasuredInput,
  { container }: NormalizedFormat,
): Promise<CoverFile[] | TaskFailure> {
  const way = container.holds.covers
  const covers = nameCoverFiles(source.others.filter(({ type }) => type === "cover"))
  if (covers.length === 0 || way === null || way === "stream") return []
  const { from } = APPLY_SHARE
  const run = await runFfmpegPass(context, clock, {
    argv: coverExtractionArguments(input, covers),
    from,
    to: from,
  })
  if ("failure" in run) return run
  if (way === "comment") await writeCoverTagsFile(context.workspace, covers)
  return covers
}
