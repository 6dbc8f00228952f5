import { describe, expect, test } from "vitest"
import { pictureFilters } from "../../../../container/tasks/render/filters.ts"
import { readOrientation, UPRIGHT } from "../../../../container/tasks/render/geometry.ts"
import type { SourceVideo } from "../../../../container/tasks/render/source.ts"

const RATE = { frames: 25, seconds: 1 }
const SD = { width: 854, height: 480 }
const HD = { width: 1280, height: 720 }
const PLAIN: SourceVideo = {
  index: 0,
  startSeconds: 0,
  codec: "h264",
  size: { width: 1920, height: 1080 },
  pixelShape: 1,
  orientation: UPRIGHT,
  pixelFormat: "yuv420p",
  colour: { range: "tv", matrix: "bt709", transfer: "bt709", primaries: "bt709" },
  fields: "progressive",
  rate: { base: RATE, average: RATE, isInterlaced: false },
}

function chain(changes: Partial<SourceVideo>, sizes = [SD]) {
  const { shared, own } = pictureFilters({ ...PLAIN, ...changes }, RATE, sizes)
  return { shared: shared.join(","), own: own.map((each) => each.join(",")) }
}

test("a plain picture is scaled and nothing else", () => {
  const { shared, own } = chain({}, [SD, HD])
  expect(shared).toBe("fps=25/1")
  expect(own[0]).toMatch(/^scale=854:480:out_range=tv,format=yuv420p,setsar=1,/)
  expect(own[1]).toMatch(/^scale=1280:720:/)
})

test("a turned picture is scaled as it is stored, and then turned", () => {
  const orientation = readOrientation("00000000: 0 65536 0\n00000001: -65536 0 0")
  const { own } = chain({ orientation }, [{ width: 480, height: 854 }])
  expect(own[0]).toMatch(/^scale=854:480:.*,transpose=clock,setsar=1/)
})

describe("fields are joined", () => {
  test.for<[string, Partial<SourceVideo>, RegExp]>([
    ["where frames tell of them", { fields: "top" }, /^bwdif=mode=send_frame:deint=interlaced,fps/],
    ["where the file tells", { fields: "bottom", codec: "ffv1" }, /^bwdif=.*parity=bff:deint=all,/],
    ["where frames might tell", { fields: null }, /^bwdif=mode=send_frame:deint=interlaced,/],
    ["not in what has none", { fields: null, codec: "vp9" }, /^fps=/],
    ["not in what is too small", { fields: "top", size: { width: 2, height: 2 } }, /^fps=/],
  ])("%s", ([, changes, expected]) => {
    expect(chain(changes).shared).toMatch(expected)
  })
})

describe("colours become those of BT.709", () => {
  const colour = PLAIN.colour

  test("of HDR once, at the largest size, and others of that", () => {
    const hdr = { ...colour, matrix: "bt2020nc", transfer: "smpte2084", primaries: "bt2020" }
    const { shared, own } = chain({ colour: hdr, pixelFormat: "yuv420p10le" }, [SD, HD])
    expect(shared).toMatch(/^fps=25\/1,scale=1280:720,zscale=.*tin=smpte2084.*tonemap.*yuv420p$/)
    expect(own[0]).toMatch(/^scale=854:480,setsar/)
    expect(own[1]).toMatch(/^setsar=1,/)
  })

  test.for<[string, Partial<SourceVideo>, RegExp]>([
    [
      "of SD by its matrix",
      { colour: { ...colour, matrix: "smpte170m" } },
      /in_color_matrix=smpte170m:out_color_matrix=bt709/,
    ],
    [
      "of SD that says nothing",
      { size: { width: 720, height: 576 }, colour: { ...colour, matrix: null } },
      /in_color_matrix=smpte170m/,
    ],
    [
      "of HD that says nothing",
      { colour: { ...colour, matrix: "unknown" } },
      /^scale=854:480:out_range=tv,/,
    ],
    ["of RGB by none", { pixelFormat: "bgr0" }, /^scale=854:480:out_color_matrix=bt709/],
    ["over black of what can be seen through", { pixelFormat: "rgba" }, /premultiply=inplace=1/],
    [
      "told where those of SD stay",
      { colour: { ...colour, primaries: "bt470bg" } },
      /color_primaries=bt470bg/,
    ],
  ])("%s", ([, changes, expected]) => {
    expect(chain(changes).own[0]).toMatch(expected)
  })

  test("of BT.2020 without HDR, without a tone map", () => {
    const wide = { ...colour, matrix: "bt2020nc", transfer: "bt2020-10", primaries: "bt2020" }
    const { shared } = chain({ colour: wide })
    expect(shared).toMatch(/zscale=min=bt2020nc:tin=bt709:pin=bt2020:rin=tv:p=bt709/)
    expect(shared).not.toContain("tonemap")
  })
})
