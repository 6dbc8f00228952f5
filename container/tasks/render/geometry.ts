import type { RenditionSize } from "../../../src/contract/tasks/render.ts"

/** Sides in pixels. */
export type Size = { width: number; height: number }

/** How a picture is to be turned before it is shown. */
export type Orientation = {
  /** Whether its width becomes its height. */
  isTurned: boolean
  /** ffmpeg's filters that do it. */
  filters: readonly string[]
}

/** The boxes that pictures fit in; those of portraits stand upright. */
export const BOXES: Record<RenditionSize, Size> = {
  "480p": { width: 854, height: 480 },
  "720p": { width: 1280, height: 720 },
  "1080p": { width: 1920, height: 1080 },
  "4k": { width: 3840, height: 2160 },
}

/** Pixels that are further from square than this are a mistake of what wrote the file. */
const PIXEL_SHAPE_MAX = 10
const SIDE_MIN = 2

/** The size at which a picture is shown: pixels made square, and turned; not rounded. */
export function displaySize(
  { width, height }: Size,
  { pixelShape, orientation }: { pixelShape: number; orientation: Orientation },
): Size {
  const isLikely = pixelShape <= PIXEL_SHAPE_MAX && pixelShape >= 1 / PIXEL_SHAPE_MAX
  const shown = { width: isLikely ? width * pixelShape : width, height }
  return orientation.isTurned ? turned(shown) : shown
}

/**
 * The size of a rendition: the picture's shape, inside the box and not larger than it is shown, with
 * even sides.
 */
export function fitSize(shown: Size, size: RenditionSize): Size {
  const box = shown.height > shown.width ? turned(BOXES[size]) : BOXES[size]
  const scale = Math.min(1, box.width / shown.width, box.height / shown.height)
  return {
    width: evenSide(shown.width * scale, Math.min(box.width, shown.width)),
    height: evenSide(shown.height * scale, Math.min(box.height, shown.height)),
  }
}

/** The size of the frame that a picture is encoded in, whose sides have a least. */
export function frameSize({ width, height }: Size, sideMin: number): Size {
  return { width: Math.max(width, sideMin), height: Math.max(height, sideMin) }
}

/** The filters that put a picture into the middle of its frame, with black around it. */
export function padFilters(picture: Size, frame: Size): string[] {
  if (picture.width === frame.width && picture.height === frame.height) return []
  return [`pad=${frame.width}:${frame.height}:-1:-1`]
}

/** A size with its sides exchanged. */
export function turned({ width, height }: Size): Size {
  return { width: height, height: width }
}

/**
 * How a display matrix turns a picture, as ffprobe prints it; an angle between is taken for the
 * nearest quarter turn.
 */
export function readOrientation(displayMatrix: string): Orientation {
  const [first = [], second = []] = displayMatrix
    .trim()
    .split("\n")
    .map((line) =>
      line
        .replace(/^[^:]*:/, "")
        .trim()
        .split(/\s+/)
        .map(Number),
    )
  const [a = 1, b = 0] = first
  const [c = 0, d = 1] = second
  if (![a, b, c, d].every(Number.isFinite)) return UPRIGHT
  if (Math.abs(b) + Math.abs(c) > Math.abs(a) + Math.abs(d)) {
    const [negative, positive] = b > 0 ? ["clock", "cclock_flip"] : ["clock_flip", "cclock"]
    return { isTurned: true, filters: [`transpose=${c > 0 ? positive : negative}`] }
  }
  const filters = [...(a < 0 ? ["hflip"] : []), ...(d < 0 ? ["vflip"] : [])]
  return { isTurned: false, filters }
}

/** A picture that is stored as it is shown. */
export const UPRIGHT: Orientation = { isTurned: false, filters: [] }

/** The nearest even number of pixels that is not above a limit; at least the least that can be. */
function evenSide(side: number, max: number): number {
  // A side that is a fraction short of an even number by rounding alone is that number.
  const most = 2 * Math.floor((max + 1e-6) / 2)
  return Math.max(SIDE_MIN, Math.min(2 * Math.round(side / 2), most))
}
