import { describe, expect, test } from "vitest"
import {
  planRenditions,
  duplicateRenditionWarnings,
} from "../../../../container/tasks/render/plan-renditions.ts"
import { readRenderSource } from "../../../../container/tasks/render/render-source.ts"
import type { RenditionRequest } from "./render-harness.ts"

const H264 = { codec: "h264", container: "mp4" } as const
const AV1 = { codec: "av1", container: "mp4" } as const

/** Plans renditions of a picture of this size; returns the keys made, and the keys left out. */
function plan([width, height]: [number, number], asked: RenditionRequest[]) {
  const stream = { index: 0, codec_type: "video", codec_name: "h264", width, height }
  const { video } = readRenderSource(
    { format_name: "mp4", format: {}, streams: [stream] },
    "source",
  )
  if (!video) throw new Error("There is no picture.")
  const renditions = asked.map((each, at) => ({ key: `out_${at + 1}`, ...each }))
  const outputs = renditions.map(({ key }) => ({ key, name: `${key}.mp4` }))
  return planRenditions(video, { renditions, outputs })
}

function placesOf({ renditions, same }: ReturnType<typeof plan>) {
  return {
    made: renditions.map(({ key, picture }) => `${key} ${picture.width}x${picture.height}`),
    same: same.map(({ key, rendition }) => `${key} ${rendition.key}`),
  }
}

describe("renditions of a picture that is smaller than their boxes", () => {
  const ladder = (["480p", "720p", "1080p", "1440p", "4k"] as const).map((resolution) => {
    return { ...H264, resolution }
  })

  test.for<[[number, number], string[], string[]]>([
    [
      [1280, 720],
      ["out_1 854x480", "out_2 1280x720"],
      ["out_3 out_2", "out_4 out_2", "out_5 out_2"],
    ],
    [[320, 180], ["out_1 320x180"], ["out_2 out_1", "out_3 out_1", "out_4 out_1", "out_5 out_1"]],
    [
      [720, 1280],
      ["out_1 480x854", "out_2 720x1280"],
      ["out_3 out_2", "out_4 out_2", "out_5 out_2"],
    ],
    [
      [3840, 2160],
      ["out_1 854x480", "out_2 1280x720", "out_3 1920x1080", "out_4 2560x1440", "out_5 3840x2160"],
      [],
    ],
  ])("are made once: %j", ([size, made, same]) => {
    expect(placesOf(plan(size, ladder))).toEqual({ made, same })
  })
})

test("equal entries of a request are made once", () => {
  const asked = [H264, H264, AV1, H264].map((each) => ({ ...each, resolution: "240p" as const }))
  const planned = plan([1920, 1080], asked)
  const same = ["out_2 out_1", "out_4 out_1"]
  expect(placesOf(planned)).toEqual({ made: ["out_1 426x240", "out_3 426x240"], same })
  expect(duplicateRenditionWarnings(planned.same)).toEqual([
    {
      code: "same_rendition",
      message: "out_2, out_4 are the same as out_1 (h264 in mp4, 426x240), which was encoded once.",
    },
  ])
})

test.for<[string, RenditionRequest]>([
  ["codec", { ...AV1, resolution: "720p" }],
  ["container", { ...H264, container: "mov", resolution: "720p" }],
  ["bitrate", { ...H264, resolution: "720p", bitrate_kbps: 900 }],
  ["size", { ...H264, resolution: "360p" }],
])("renditions of another %s are made twice", ([, other]) => {
  const { made, same } = placesOf(plan([1280, 720], [{ ...H264, resolution: "720p" }, other]))
  expect([made.length, same]).toEqual([2, []])
})
