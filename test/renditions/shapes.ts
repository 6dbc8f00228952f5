import type { Shape } from "./shape.ts"
import { COMMON_SHAPES } from "./shapes/common.ts"
import { FILE_SHAPES } from "./shapes/files.ts"
import { PIXEL_SHAPES } from "./shapes/pixels.ts"
import { TIME_SHAPES } from "./shapes/times.ts"

/** Every kind of source that is tried. */
export const SHAPES: readonly Shape[] = [
  ...COMMON_SHAPES,
  ...PIXEL_SHAPES,
  ...TIME_SHAPES,
  ...FILE_SHAPES,
]
