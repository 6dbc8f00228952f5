import type { TaskFailure } from "../../failures.ts"
import { meterFilters, openMeterReader } from "../../tools/loudness/meter.ts"
import type { Measured } from "../../tools/loudness/meter.ts"
import type { FinishedRun } from "../../tools/run-ffmpeg.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { runPass } from "../run-pass.ts"

/** A stream that is measured, by ffmpeg's specifier, and the filters that come before the meter. */
type MeasuredStream = { specifier: string; rate: number; filters: readonly string[] }

/** What was measured, by the order of the streams, and the run of ffmpeg that did it. */
export type Measurement = { measured: Measured[]; run: FinishedRun }

/** Measures streams of a file in one pass, in which nothing but sound is decoded. */
export async function measureStreams(
  context: RunContext,
  clock: RunClock,
  what: { name: string; streams: readonly MeasuredStream[]; from: number; to: number },
): Promise<Measurement | TaskFailure> {
  const { name, streams, from, to } = what
  const reader = openMeterReader()
  const filters = streams.flatMap((stream, at) => [
    `-filter:a:${at}`,
    [...stream.filters, meterFilters(at, stream.rate)].join(","),
  ])
  const maps = streams.flatMap(({ specifier }) => ["-map", `0:${specifier}`])
  const argv = ["-nostats", "-i", name, ...maps, ...filters, "-f", "null", "-"]
  const run = await runPass(context, clock, { argv, from, to, onStderrLine: reader.readStderr })
  if ("failure" in run) return run
  return { measured: await reader.end(context.workspace, streams.length), run }
}
