import { expect, test } from "vitest"
import type { VideoTarget } from "../../../../container/tools/renditions/video-encoder.ts"
import { passesOf, videoArguments } from "../../../../container/tools/renditions/video-encoder.ts"

const TARGET: VideoTarget = {
  codec: "h264",
  container: "mp4",
  width: 640,
  height: 360,
  frameRate: { frames: 25, seconds: 1 },
  bitrateKbps: null,
}

test("a stream without a rate is made in one pass", () => {
  expect(passesOf(TARGET)).toBe(1)
  expect(videoArguments(TARGET, { number: 1, log: "passes" }).join(" ")).not.toContain("pass")
})
