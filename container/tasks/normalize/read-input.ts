import { callerFailure } from "../../failures.ts"
import type { TaskFailure } from "../../failures.ts"
import { pathIn } from "../../sandbox/workspace.ts"
import { layoutFilters } from "../../tools/loudness/gain-filters.ts"
import { readMovieHeader } from "../../tools/movie-header.ts"
import { readSource } from "../../tools/loudness/source.ts"
import type { Source } from "../../tools/loudness/source.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { probeInput } from "../single-input.ts"
import { encryptedSound, noAudio } from "../sound-failures.ts"
import { measureStreams } from "./measure.ts"
import type { Measurement } from "./measure.ts"

const MEASURE_SHARE = { from: 0, to: 0.3 }

/** Reads what the input is; fails where it is no media, or has no sound. */
export async function readInput(context: RunContext, name: string): Promise<Source | TaskFailure> {
  const probed = await probeInput(context, name)
  if (!("probe" in probed)) {
    const message = `The input is not a media file that can be read: ${probed.reason}.`
    return callerFailure("invalid_input", message, probed.lines)
  }
  const source = readSource(probed.probe, name)
  if (source.audio.length > 0) return source
  if (source.others.some(({ type }) => type === "audio")) {
    return callerFailure("invalid_input", "The input has sound, and it cannot be decoded.")
  }
  return noAudio()
}

/** Measures all sound of the input. */
export async function measureInput(
  context: RunContext,
  clock: RunClock,
  name: string,
  { audio, format }: Source,
): Promise<Measurement | TaskFailure> {
  const streams = audio.map((stream) => ({
    specifier: String(stream.index),
    rate: stream.rate,
    filters: layoutFilters(stream),
  }))
  const measurement = await measureStreams(context, clock, { name, streams, ...MEASURE_SHARE })
  if (!("failure" in measurement) || !format.startsWith("mov,")) return measurement
  const { isEncrypted } = await readMovieHeader(pathIn(context.workspace, name))
  return isEncrypted ? encryptedSound(measurement.failure.lines) : measurement
}
