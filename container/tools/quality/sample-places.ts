/** Frames of a rendition that are compared: so many, from the one of this number on. */
export type Place = { first: number; count: number }

/** More places cost more than they tell: what is left of the error is within the tenth of a scene. */
const PLACES_MAX = 16
/** How many numbers of the sequence reach every one of PLACES_MAX equal parts. */
const SEQUENCE_LENGTH = 2 * PLACES_MAX
/** Its multiples are spread evenly modulo 1, whatever the period of keyframes. */
const GOLDEN_RATIO = 0.618_033_988_75

/**
 * Places of `count` frames in a film of `frames`, one in each of equal parts. Any first ones of them
 * are spread over the film, the middle first. Within its part each is elsewhere: frames at keyframes,
 * of the rendition or the source, are better or worse than others. Without a length, only the start.
 */
export function planPlaces(frames: number | null, count: number): Place[] {
  if (frames === null) return [{ first: 0, count }]
  const parts = Math.min(PLACES_MAX, Math.max(1, Math.floor(frames / count)))
  return orderParts(parts).map((part) => placeIn(part, { frames, parts, count }))
}

function placeIn(part: number, of: { frames: number; parts: number; count: number }): Place {
  const length = of.frames / of.parts
  const count = Math.min(of.count, of.frames)
  const shift = (((part + 1) * GOLDEN_RATIO) % 1) * Math.max(0, length - count)
  return { first: Math.floor(part * length + shift), count }
}

/** The numbers of parts in the order of van der Corput's sequence: 1/2, 1/4, 3/4, 1/8 ... */
function orderParts(parts: number): number[] {
  const sequence = Array.from({ length: SEQUENCE_LENGTH }, (_, at) => reverseBits(at + 1))
  return [...new Set(sequence.map((fraction) => Math.floor(fraction * parts)))]
}

/** The fraction whose binary digits are those of a number, reversed. */
function reverseBits(number: number): number {
  return number === 0 ? 0 : ((number % 2) + reverseBits(Math.floor(number / 2))) / 2
}
