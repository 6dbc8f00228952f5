import type { RenditionSize } from "../../../src/contract/tasks/render.ts"

/** Width and height of a picture in pixels. */
export type PixelSize = { width: number; height: number }

/** Rotation that players apply to a stored picture before display. */
export type PictureRotation = {
  /** Whether the rotation swaps width and height. */
  swapsSides: boolean
  /** Filters of ffmpeg that apply the rotation. */
  filters: readonly string[]
}

/**
 * Maximum frame size for each requested resolution. For pictures in portrait format, width and
 * height are swapped.
 */
export const RENDITION_FRAME_SIZES: Record<RenditionSize, PixelSize> = {
  "240p": { width: 426, height: 240 },
  "360p": { width: 640, height: 360 },
  "480p": { width: 854, height: 480 },
  "720p": { width: 1280, height: 720 },
  "1080p": { width: 1920, height: 1080 },
  "1440p": { width: 2560, height: 1440 },
  "4k": { width: 3840, height: 2160 },
}

/**
 * Maximum ratio between width and height of a pixel, or the reverse. A larger ratio is an error in
 * the file, and pixels then count as square.
 */
const PIXEL_SHAPE_MAX = 10
const SIDE_MIN = 2

/**
 * Returns the size at which a stored picture is displayed, after rotation and with square pixels.
 * The size is not rounded.
 */
export function computeDisplaySize(
  { width, height }: PixelSize,
  { pixelShape, orientation }: { pixelShape: number; orientation: PictureRotation },
): PixelSize {
  const isLikely = pixelShape <= PIXEL_SHAPE_MAX && pixelShape >= 1 / PIXEL_SHAPE_MAX
  const shown = { width: isLikely ? width * pixelShape : width, height }
  return orientation.swapsSides ? swapWidthAndHeight(shown) : shown
}

/**
 * Returns the size of a rendition: the largest size with even sides that fits the requested
 * resolution, keeps the aspect ratio and is not larger than the source.
 */
export function fitRenditionSize(shown: PixelSize, size: RenditionSize): PixelSize {
  const box =
    shown.height > shown.width
      ? swapWidthAndHeight(RENDITION_FRAME_SIZES[size])
      : RENDITION_FRAME_SIZES[size]
  const scale = Math.min(1, box.width / shown.width, box.height / shown.height)
  return {
    width: evenSide(shown.width * scale, Math.min(box.width, shown.width)),
    height: evenSide(shown.height * scale, Math.min(box.height, shown.height)),
  }
}

/**
 * Returns the size of the encoded frame: the size of the picture, with each side extended to at
 * least `sideMin` pixels, the minimum of the encoder.
 */
export function encodedFrameSize({ width, height }: PixelSize, sideMin: number): PixelSize {
  return { width: Math.max(width, sideMin), height: Math.max(height, sideMin) }
}

/**
 * Returns the filter that centres a picture in a larger frame with black borders. Returns an empty
 * list if the sizes are equal.
 */
export function paddingFilters(picture: PixelSize, frame: PixelSize): string[] {
  if (picture.width === frame.width && picture.height === frame.height) return []
  return [`pad=${frame.width}:${frame.height}:-1:-1`]
}

/** Swaps the width and the height of a size. */
export function swapWidthAndHeight({ width, height }: PixelSize): PixelSize {
  return { width: height, height: width }
}

/**
 * Parses the rotation of a picture from a display matrix that ffprobe prints. Rounds the angle to
 * the nearest quarter turn.
 */
export function readPictureRotation(displayMatrix: string): PictureRotation {
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
  if (![a, b, c, d].every(Number.isFinite)) return NO_PICTURE_ROTATION
  if (Math.abs(b) + Math.abs(c) > Math.abs(a) + Math.abs(d)) {
    const [negative, positive] = b > 0 ? ["clock", "cclock_flip"] : ["clock_flip", "cclock"]
    return { swapsSides: true, filters: [`transpose=${c > 0 ? positive : negative}`] }
  }
  const filters = [...(a < 0 ? ["hflip"] : []), ...(d < 0 ? ["vflip"] : [])]
  return { swapsSides: false, filters }
}

/** Rotation of a picture that is displayed without rotation. */
export const NO_PICTURE_ROTATION: PictureRotation = { swapsSides: false, filters: [] }

/** Rounds the length of a side to the nearest even number of pixels from 2 to `max`. */
function evenSide(side: number, max: number): number {
  // Adds a tiny amount before rounding down to an even number: floating-point arithmetic may have
  // turned a maximum of 1080 into 1079.999…, which would become 1078.
  const most = 2 * Math.floor((max + 1e-6) / 2)
  return Math.max(SIDE_MIN, Math.min(2 * Math.round(side / 2), most))
}
