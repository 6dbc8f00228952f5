import { expect, test } from "vitest"
import { failedOnlyForLackOfFrames } from "../../../../container/tools/ffmpeg/run-ffmpeg.ts"

const NO_FRAMES = "[vf#0:0] No filtered frames for output stream, trying to initialize anyway."
const BEFORE_FIRST = [
  "[vost#0:0/mpeg2video] Could not open encoder before EOF",
  "[out#0/mpegts] Nothing was written into output file, because at least one of its streams received no packets.",
  "Conversion failed!",
]
const NOT_OPENED = [
  "[mpeg2video] MPEG-1/2 does not support 10240/1 fps",
  "[vost#0:0/mpeg2video] Error while opening encoder - maybe incorrect parameters such as bit_rate, rate, width or height.",
]
const ENDED = "[vf#0:0] Task finished with error code: -22 (Invalid argument)"
const TRAILER = "[out#0/gif] Error writing trailer: Invalid argument"

/** Recorded from ffmpeg 7.1.5, as `cleanToolLines` returns them. */
test.each<[is: boolean, what: string, lines: string[], hasWritten?: boolean]>([
  [true, "no frame and an encoder", [NO_FRAMES, ...NOT_OPENED, ENDED, ...BEFORE_FIRST]],
  [true, "the same with -loglevel error", [...NOT_OPENED, ENDED, ...BEFORE_FIRST]],
  [true, "a muxer without output", [TRAILER]],
  [false, "a muxer that cannot complete its output", [TRAILER], true],
  [
    false,
    "an encoder that refuses a frame",
    [
      "x264 [error]: invalid profile: nonsense",
      "[libx264] Error setting profile nonsense.",
      "[vost#0:0/libx264] Error while opening encoder - maybe incorrect parameters such as bit_rate, rate, width or height.",
      "[vf#0:0] Error sending frames to consumers: Invalid argument",
      ENDED,
      ...BEFORE_FIRST,
    ],
  ],
  [
    false,
    "a rate of sound that leaves no frame",
    [
      "[af#0:1] No filtered frames for output stream, trying to initialize anyway.",
      "[aac] Specified sample rate 1 is not supported by the aac encoder",
      "[aost#0:1/aac] Error while opening encoder - maybe incorrect parameters such as bit_rate, rate, width or height.",
      "[aost#0:1/aac] Could not open encoder before EOF",
    ],
  ],
  [
    false,
    "an input that cannot be decoded",
    [
      "[vist#0:0/h264] [dec:h264] Error submitting packet to decoder: Invalid data found when processing input",
      "[vist#0:0/h264] [dec:h264] Decode error rate 1 exceeds maximum 0.666667",
      ...BEFORE_FIRST,
    ],
  ],
  [false, "an unknown message", ["Conversion failed!"]],
])("a failure over missing frames: %s, for %s", (is, _, lines, hasWritten = false) => {
  expect(failedOnlyForLackOfFrames(lines, hasWritten)).toBe(is)
})
