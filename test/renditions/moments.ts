import { GRID, SOUND_RATE } from "./read-media.ts"
import type { Corner, Corners } from "./shape.ts"

/** Of the loudest moment, how loud a sound is that begins. */
const LOUD_SHARE = 0.3
const WINDOW = SOUND_RATE / 200

/** The frame at which the picture becomes brightest at once. */
export function flashIndex(frames: readonly Uint8Array[]): number {
  const lights = frames.map(mean)
  const steps = lights.map((light, index) => (index === 0 ? 0 : light - (lights[index - 1] ?? 0)))
  return steps.indexOf(Math.max(...steps))
}

/** When a click is heard, in seconds; null where there is none. */
export function clickAt(samples: Int16Array): number | null {
  const powers = Array.from({ length: Math.floor(samples.length / WINDOW) }, (_, index) =>
    samples
      .subarray(index * WINDOW, (index + 1) * WINDOW)
      .reduce((most, sample) => Math.max(most, Math.abs(sample)), 0),
  )
  const loudest = Math.max(...powers)
  const index = powers.findIndex((power) => power > loudest * LOUD_SHARE)
  return index === -1 ? null : (index * WINDOW) / SOUND_RATE
}

const COLORS: Record<Corner, readonly [number, number, number]> = {
  red: [255, 0, 0],
  green: [0, 255, 0],
  blue: [0, 0, 255],
  gray: [128, 128, 128],
}

/** The most that a corner of a picture is off its color, of 255. */
export function cornersOff(frame: Uint8Array, corners: Corners): number {
  const last = GRID - 1
  const places = [0, last, GRID * last, GRID * last + last]
  const differences = corners.flatMap((corner, index) => {
    const at = (places[index] ?? 0) * 3
    return COLORS[corner].map((value, channel) => Math.abs(value - (frame[at + channel] ?? 0)))
  })
  return Math.max(...differences)
}

function mean(values: Uint8Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
