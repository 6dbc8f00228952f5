/**
 * Short segment of a video in which renditions are compared with their source: the number of the
 * first frame, and the count of frames.
 */
export type SampleSegment = { first: number; count: number }

/**
 * Maximum number of sample segments. More segments would take much time and add little precision.
 */
const PLACES_MAX = 16
/**
 * Length of a van der Corput sequence that has a number in each part, if the interval from 0 to 1
 * is divided into at most PLACES_MAX equal parts.
 */
const SEQUENCE_LENGTH = 2 * PLACES_MAX
/**
 * Golden ratio. Its multiples modulo 1 are spread evenly, so that the segments have different
 * distances from a keyframe.
 */
const GOLDEN_RATIO = 0.618_033_988_75

/**
 * Plans sample segments of `count` frames in a video of `frames` frames, one segment in each of
 * several equal parts. The first segment is in the middle. The order is such that the segments
 * measured so far are always spread over the video. The position within a part varies, because the
 * scores of frames depend on their distance from a keyframe. If `frames` is null, plans only one
 * segment at the start of the video.
 */
export function planSampleSegments(frames: number | null, count: number): SampleSegment[] {
  if (frames === null) return [{ first: 0, count }]
  const parts = Math.min(PLACES_MAX, Math.max(1, Math.floor(frames / count)))
  return orderParts(parts).map((part) => placeIn(part, { frames, parts, count }))
}

function placeIn(
  part: number,
  of: { frames: number; parts: number; count: number },
): SampleSegment {
  const length = of.frames / of.parts
  const count = Math.min(of.count, of.frames)
  const shift = (((part + 1) * GOLDEN_RATIO) % 1) * Math.max(0, length - count)
  return { first: Math.floor(part * length + shift), count }
}

/**
 * Returns the indexes of the parts of a video in the order of the van der Corput sequence: 1/2,
 * 1/4, 3/4, 1/8 ...
 */
function orderParts(parts: number): number[] {
  const sequence = Array.from({ length: SEQUENCE_LENGTH }, (_, at) => reverseBits(at + 1))
  return [...new Set(sequence.map((fraction) => Math.floor(fraction * parts)))]
}

/**
 * Returns the fraction from 0 to 1 whose binary digits are those of a number in reverse order:
 * binary 110 becomes binary 0.011.
 */
function reverseBits(number: number): number {
  return number === 0 ? 0 : ((number % 2) + reverseBits(Math.floor(number / 2))) / 2
}
