import { describe, expect, it } from "vitest"
import { computeDisplayGeometry } from "../../src/kinds/display-geometry.ts"

const FORMAT = { format_name: "mov,mp4", format: {} }
const picture = { codec_type: "video", width: 64, height: 36 }

function shown(...streams: Record<string, unknown>[]) {
  return computeDisplayGeometry({ ...FORMAT, width: 1, height: 1, streams })
}

function turnedBy(rotation: unknown) {
  return { ...picture, side_data_list: [{ side_data_type: "Stereo" }, { rotation }] }
}

describe("the shown frame", () => {
  it.each([
    [0, { width: 64, height: 36 }],
    [-90, { width: 36, height: 64, rotation: 90 }],
    [90, { width: 36, height: 64, rotation: 270 }],
    [-180, { width: 64, height: 36, rotation: 180 }],
    [270, { width: 36, height: 64, rotation: 90 }],
    [-89.6, { width: 36, height: 64, rotation: 90 }],
    [10, { width: 64, height: 36 }],
    ["nan", { width: 64, height: 36 }],
  ])("is rotated by ffprobe's rotation %s", (rotation, expected) => {
    expect(shown(turnedBy(rotation))).toEqual(expected)
  })

  it("is empty for audio, cover art and streams without a size", () => {
    const cover = { ...picture, disposition: { attached_pic: 1 } }
    expect(shown({ codec_type: "audio" }, cover)).toEqual({})
    expect(shown(cover, { ...picture, width: 20 })).toEqual({ width: 20, height: 36 })
    expect(shown({ codec_type: "video", width: "wide", height: "high" })).toEqual({})
  })

  it("comes from the top of a probe that was cut to its size limit", () => {
    expect(shown()).toEqual({ width: 1, height: 1 })
  })
})
