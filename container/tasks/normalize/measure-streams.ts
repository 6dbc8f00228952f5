import type { TaskFailure } from "../../task-failure.ts"
import { loudnessMeterFilters, createLoudnessReader } from "../../tools/loudness/loudness-meter.ts"
import type { StreamLoudness } from "../../tools/loudness/loudness-meter.ts"
import type { FinishedFfmpegRun } from "../../tools/ffmpeg/run-ffmpeg.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { runFfmpegPass } from "../run-ffmpeg-pass.ts"

/**
 * Audio stream to measure: the stream specifier of ffmpeg, the sample rate, and the filters to
 * apply before the measurement.
 */
type MeasuredStream = { specifier: string; rate: number; filters: readonly string[] }

/**
 * Loudness of each audio stream, in the order of the streams, and the run of ffmpeg that measured
 * the loudness.
 */
export type LoudnessMeasurement = { measured: StreamLoudness[]; run: FinishedFfmpegRun }

/**
 * Measures the loudness of several audio streams of a file in one run of ffmpeg, which decodes only
 * audio.
 */
export async function measureStreamLoudness(
  context: RunContext,
  clock: RunClock,
  what: { name: string; streams: readonly MeasuredStream[]; from: number; to: number },
): Promise<LoudnessMeasurement | TaskFailure> {
  const { name, streams, from, to } = what
  const reader = createLoudnessReader()
  const filters = streams.flatMap((stream, at) => [
    `-filter:a:${at}`,
    [...stream.filters, loudnessMeterFilters(at, stream.rate)].join(","),
  ])
  const maps = streams.flatMap(({ specifier }) => ["-map", `0:${specifier}`])
  const argv = ["-nostats", "-i", name, ...maps, ...filters, "-f", "null", "-"]
  const run = await runFfmpegPass(context, clock, {
    argv,
    from,
    to,
    onStderrLine: reader.readStderr,
  })
  if ("failure" in run) return run
  return { measured: await reader.end(context.workspace, streams.length), run }
}
