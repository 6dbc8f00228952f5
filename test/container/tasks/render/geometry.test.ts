import { describe, expect, test } from "vitest"
import {
  computeDisplaySize,
  fitRenditionSize,
  readPictureRotation,
  NO_PICTURE_ROTATION,
} from "../../../../container/tasks/render/geometry.ts"
import type { RenditionSize } from "../../../../src/contract/tasks/render.ts"

describe("a picture fits in its box", () => {
  test.for<[number, number, RenditionSize, number, number]>([
    [1920, 1080, "240p", 426, 240],
    [1080, 1920, "240p", 240, 426],
    [1920, 1080, "360p", 640, 360],
    [1920, 1080, "480p", 854, 480],
    [1920, 1080, "720p", 1280, 720],
    [1920, 1080, "1080p", 1920, 1080],
    [1920, 1080, "4k", 1920, 1080],
    [3840, 2160, "1080p", 1920, 1080],
    [3840, 2160, "1440p", 2560, 1440],
    [4096, 2160, "4k", 3840, 2026],
    [1080, 1920, "480p", 480, 854],
    [1000, 1000, "480p", 480, 480],
    [2560, 1080, "720p", 1280, 540],
    [641, 361, "480p", 640, 360],
    [640.5, 360.5, "480p", 640, 360],
    [1, 1, "480p", 2, 2],
    [2, 2000, "480p", 2, 854],
    [16, 16, "4k", 16, 16],
    [7680, 4320, "4k", 3840, 2160],
  ])("%d x %d in %s is %d x %d", ([width, height, size, fitWidth, fitHeight]) => {
    expect(fitRenditionSize({ width, height }, size)).toEqual({
      width: fitWidth,
      height: fitHeight,
    })
  })

  test("with even sides, no larger than before, and in its shape, for any size", () => {
    for (let width = 2; width < 2200; width += 37) {
      for (let height = 2; height < 2200; height += 41) {
        const fit = fitRenditionSize({ width, height }, "720p")
        expect([fit.width % 2, fit.height % 2]).toEqual([0, 0])
        expect(fit.width).toBeLessThanOrEqual(width)
        expect(fit.height).toBeLessThanOrEqual(height)
        const scale = Math.min(1, 1280 / Math.max(width, height), 720 / Math.min(width, height))
        expect(Math.abs(fit.width - width * scale)).toBeLessThanOrEqual(2)
        expect(Math.abs(fit.height - height * scale)).toBeLessThanOrEqual(2)
      }
    }
  })
})

test.for<[number, number, number, boolean, number, number]>([
  [1440, 1080, 4 / 3, false, 1920, 1080],
  [720, 576, 16 / 15, false, 768, 576],
  [1920, 1080, 1, true, 1080, 1920],
  [720, 576, 16 / 15, true, 576, 768],
  [320, 240, 1000, false, 320, 240],
])("%d x %d with pixels of %d, turned: %s, is shown as %d x %d", (row) => {
  const [width, height, pixelShape, swapsSides, shownWidth, shownHeight] = row
  const orientation = { ...NO_PICTURE_ROTATION, swapsSides }
  const shown = computeDisplaySize({ width, height }, { pixelShape, orientation })
  expect(shown.width).toBeCloseTo(shownWidth)
  expect(shown.height).toBeCloseTo(shownHeight)
})

describe("a display matrix", () => {
  test.for<[string, number[], boolean, string[]]>([
    ["of none", [65536, 0, 0, 65536], false, []],
    ["of a quarter turn", [0, 65536, -65536, 0], true, ["transpose=clock"]],
    ["of three quarters", [0, -65536, 65536, 0], true, ["transpose=cclock"]],
    ["of a half", [-65536, 0, 0, -65536], false, ["hflip", "vflip"]],
    ["of a mirror", [-65536, 0, 0, 65536], false, ["hflip"]],
    ["of a mirror, turned", [0, 65536, 65536, 0], true, ["transpose=cclock_flip"]],
    ["of a mirror, turned back", [0, -65536, -65536, 0], true, ["transpose=clock_flip"]],
    ["of 30 degrees", [56755, -32767, 32767, 56755], false, []],
    ["of 80 degrees", [11380, -64540, 64540, 11380], true, ["transpose=cclock"]],
  ])("%s", ([, [a = 0, b = 0, c = 0, d = 0], swapsSides, filters]) => {
    const printed = [
      `00000000: ${a} ${b} 0`,
      `00000001: ${c} ${d} 0`,
      "00000002: 0 0 1073741824",
    ].join("\n")
    expect(readPictureRotation(`\n${printed}\n`)).toEqual({ swapsSides, filters })
  })

  test("without valid numbers rotates nothing", () => {
    expect(readPictureRotation("nothing")).toEqual(NO_PICTURE_ROTATION)
  })
})
