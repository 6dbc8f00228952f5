import { VIDEO_PRESETS } from "./presets.ts"
import type { VideoTarget } from "./video-encoder.ts"

/** How far the mean rate of a stream may be from what was asked for: callers are promised 10 %. */
const TOLERANCE = 0.08
/** An encoder that makes so many times its rate is at its worst quality. */
const EXCESS_MAX = 10
/** A stream with less than this share of its rate is at its best quality, and more would not fill it. */
const FILLED_MIN = 0.5

/**
 * The rate to ask for in another try where a stream missed its rate, in kbit/s; null where it is met,
 * or where another try would not help.
 */
export function correctedKbps(
  target: VideoTarget & { bitrateKbps: number },
  { askedKbps, measuredKbps }: { askedKbps: number; measuredKbps: number },
): number | null {
  const { codec, bitrateKbps } = target
  const ratio = measuredKbps / bitrateKbps
  if (!Number.isFinite(ratio) || Math.abs(ratio - 1) <= TOLERANCE) return null
  const wasRaised = askedKbps > bitrateKbps
  if (ratio < 1 && (!VIDEO_PRESETS[codec].missesBelow || ratio < FILLED_MIN || wasRaised)) {
    return null
  }
  const asked = Math.max(1, Math.round(askedKbps / ratio))
  return asked * EXCESS_MAX < bitrateKbps ? null : asked
}
