import type { TaskFailure } from "../../failures.ts"
import { compressionFilters, layoutFilters } from "../../tools/loudness/gain-filters.ts"
import { planCompression, planGain, strengthenCompression } from "../../tools/loudness/gain.ts"
import type { Gain } from "../../tools/loudness/gain.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { measureStreams } from "./measure.ts"
import type { MeasuredFile } from "./normalize-sound.ts"

/** How often a compression may be made stronger, where the range is still too wide. */
const COMPRESSIONS_MAX = 2

/** Plans the gain of each stream; those whose range is too wide are measured again behind a compressor. */
export async function planGains(
  context: RunContext,
  clock: RunClock,
  { input, source, before, target }: MeasuredFile,
  share: { from: number; to: number },
): Promise<Gain[] | TaskFailure> {
  let compressions = before.map((measured) => planCompression(measured, target))
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
      filters: [...layoutFilters(stream), ...compressionFilters(compression, stream)],
    }))
    const behind = await measureStreams(context, clock, { name: input, streams, ...share })
    if ("failure" in behind) return behind
    measured = before.map((each, order) => {
      const at = compressed.findIndex((one) => one.order === order)
      return behind.measured[at] ?? each
    })
    const stronger = compressions.map((each, order) =>
      strengthenCompression(each, measured[order], target),
    )
    if (count + 1 === COMPRESSIONS_MAX || stronger.every((each) => each === null)) break
    compressions = compressions.map((each, order) => stronger[order] ?? each)
  }
  return measured.map((each, order) => planGain(each, target, compressions[order] ?? null))
}
