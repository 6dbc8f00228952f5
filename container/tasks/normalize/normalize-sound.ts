import type { TaskFailure } from "../../failures.ts"
import { pathIn } from "../../sandbox/workspace.ts"
import {
  applyArguments,
  measuresItself,
  soundPlaces,
} from "../../tools/loudness/apply-arguments.ts"
import type { Application } from "../../tools/loudness/apply-arguments.ts"
import type { OutputFormat } from "../../tools/loudness/choose-format.ts"
import {
  coverFiles,
  extractionArguments,
  writeCoverTags,
} from "../../tools/loudness/cover-files.ts"
import type { CoverFile } from "../../tools/loudness/cover-files.ts"
import { correctGain } from "../../tools/loudness/gain.ts"
import type { Gain, LoudnessTarget, Tolerance } from "../../tools/loudness/gain.ts"
import { layoutFilters } from "../../tools/loudness/gain-filters.ts"
import { openMeterReader } from "../../tools/loudness/meter.ts"
import type { Measured } from "../../tools/loudness/meter.ts"
import { findEncoder } from "../../tools/loudness/encoders.ts"
import { readMovieHeader } from "../../tools/movie-header.ts"
import type { Source } from "../../tools/loudness/source.ts"
import type { FinishedRun } from "../../tools/run-ffmpeg.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { measureStreams } from "./measure.ts"
import { runPass } from "../run-pass.ts"

/** A file of the workspace whose streams of sound were measured, and what they are to become. */
export type MeasuredFile = {
  input: string
  source: Source
  before: Measured[]
  target: LoudnessTarget
}

/** What a normalized file has: the gains that made it, its loudness, and the run that wrote it. */
export type NormalizedSound = { gains: Gain[]; after: Measured[]; run: FinishedRun }

type Share = { from: number; to: number }

const APPLICATIONS_MAX = 3
const APPLY_SHARE = { from: 0.35, to: 0.7 }
const VERIFY_SHARE = { from: 0.7, to: 0.99 }
const LAST_SHARE = { from: 0.99, to: 0.99 }

/**
 * Writes a file with gains applied, measures it as it is, and does so again, at most twice, with
 * gains corrected by what the codecs and the limiter made of them.
 */
export async function normalizeSound(
  context: RunContext,
  clock: RunClock,
  file: MeasuredFile,
  { gains: planned, format, output }: { gains: Gain[]; format: OutputFormat; output: string },
): Promise<NormalizedSound | TaskFailure> {
  const covers = await takeOutCovers(context, clock, file, format)
  if ("failure" in covers) return covers
  const { input, source, before, target } = file
  const isMovie = format.isSameContainer && format.container.demuxer === "mov"
  const movie = isMovie ? await readMovieHeader(pathIn(context.workspace, input)) : null
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
      return measured ? correctGain(gain, measured, target, tolerance) : null
    })
    const isMet = corrected.every((each) => each === null)
    if (isMet || count === APPLICATIONS_MAX) return { gains, after, run }
    gains = gains.map((gain, order) => corrected[order] ?? gain)
  }
}

/** Writes the file and measures what it holds, in the same pass where that tells the same. */
async function applyAndMeasure(
  context: RunContext,
  clock: RunClock,
  of: { application: Application; before: readonly Measured[]; shares: readonly Share[] },
): Promise<Pick<NormalizedSound, "after" | "run"> | TaskFailure> {
  const { application, before, shares } = of
  const [apply = LAST_SHARE, verify = LAST_SHARE] = shares
  const { source, format, gains, output } = application
  const argv = applyArguments(application)
  const reader = openMeterReader()
  const run = await runPass(context, clock, { argv, ...apply, onStderrLine: reader.readStderr })
  if ("failure" in run) return run
  if (measuresItself(application)) {
    const measured = await reader.end(context.workspace, source.audio.length)
    const after = measured.map((each, order) => {
      return gains[order]?.type === "none" ? (before[order] ?? each) : each
    })
    return { run, after }
  }
  const places = soundPlaces(source, format.container)
  const streams = source.audio.map((stream, order) => ({
    specifier: `a:${places[order] ?? order}`,
    rate: stream.rate,
    filters: layoutFilters(stream),
  }))
  const measurement = await measureStreams(context, clock, { name: output, streams, ...verify })
  return "failure" in measurement ? measurement : { run, after: measurement.measured }
}

/** A stream is corrected before it is so far off that it misses the target. */
function correctionTolerance(codec: string | undefined): Pick<Tolerance, "loudnessLu"> {
  return { loudnessLu: findEncoder(codec ?? "")?.isLossless === true ? 0.2 : 0.4 }
}

/** Takes covers out of a file whose container takes them as no streams. */
async function takeOutCovers(
  context: RunContext,
  clock: RunClock,
  { input, source }: MeasuredFile,
  { container }: OutputFormat,
): Promise<CoverFile[] | TaskFailure> {
  const way = container.holds.covers
  const covers = coverFiles(source.others.filter(({ type }) => type === "cover"))
  if (covers.length === 0 || way === null || way === "stream") return []
  const { from } = APPLY_SHARE
  const run = await runPass(context, clock, {
    argv: extractionArguments(input, covers),
    from,
    to: from,
  })
  if ("failure" in run) return run
  if (way === "comment") await writeCoverTags(context.workspace, covers)
  return covers
}
