import type { VideoTarget } from "./video-encoder.ts"

/** How far the mean rate of a stream may be from what was asked for. */
const TOLERANCE = 0.1

/** The rate to ask for in another try where a stream missed its rate, in kbit/s; null where it is met or cannot be helped. */
export function correctedKbps(
  target: VideoTarget & { bitrateKbps: number },
  { askedKbps, measuredKbps }: { askedKbps: number; measuredKbps: number },
): number | null {
  const ratio = measuredKbps / target.bitrateKbps
  if (measuredKbps <= 0 || Math.abs(ratio - 1) <= TOLERANCE) return null
  return Math.max(1, Math.round(askedKbps / ratio))
}
