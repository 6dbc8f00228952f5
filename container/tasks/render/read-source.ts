import { callerFailure } from "../../failures.ts"
import type { TaskFailure } from "../../failures.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { probeInput } from "../single-input.ts"
import type { PictureSource } from "./encode-arguments.ts"
import { countFrames } from "./count-frames.ts"
import { noVideo } from "./failures.ts"
import { isRateUnknown } from "./frame-rate.ts"
import { readSource } from "./source.ts"

/** However many frames there are, that is more than a rendition has. */
const COUNTED_RATE_MAX = 240

/** Reads what the input is; fails where it is no media, or has no picture. */
export async function readPictureSource(
  context: RunContext,
  clock: RunClock,
  name: string,
): Promise<PictureSource | TaskFailure> {
  const probed = await probeInput(context, name)
  if (!("probe" in probed)) {
    const message = `The source is not a media file that can be read: ${probed.reason}.`
    return callerFailure("invalid_input", message, probed.lines)
  }
  const source = readSource(probed.probe, name)
  const { video } = source
  if (!video) return noVideo(source.hasUnknownVideo)
  if (!isRateUnknown(video.rate)) return { ...source, video }
  const counted = await countFrames(context, clock, { name, stream: video.index, at: 0 })
  const seconds = source.durationSeconds
  if ("failure" in counted || counted.frames === 0 || seconds === null) return { ...source, video }
  const perSecond = Math.min(counted.frames / seconds, COUNTED_RATE_MAX)
  const average = { frames: Math.round(perSecond * 1000), seconds: 1000 }
  return { ...source, video: { ...video, rate: { ...video.rate, average } } }
}
