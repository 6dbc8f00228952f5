import { expect, test } from "vitest"
import { stereoMixFilters } from "../../../../container/tools/renditions/mix-channels.ts"

test.for<[number, string | null, string]>([
  [1, "1 channels (LFE)", ""],
  [2, "stereo", ""],
  [6, "5.1(side)", ""],
  [8, "unknown", ""],
  [24, "22.2", ""],
  [9, "unknown", "channelmap=map=0|1:channel_layout=stereo"],
  [64, null, "channelmap=map=0|1:channel_layout=stereo"],
  [4, "ambisonic 1", "channelmap=map=0|0:channel_layout=stereo"],
  [2, "2 channels (BL+BR)", "channelmap=map=0|1:channel_layout=stereo,pan=stereo|c0<c0|c1<c1"],
  [
    3,
    "3 channels (BC+SL+SR)",
    "channelmap=map=0|1|2:channel_layout=3.0,pan=stereo|c0<c0+c1|c1<c0+c2",
  ],
  [2, "2 channels (FL+LFE)", "channelmap=map=0|1:channel_layout=stereo,pan=stereo|c0<c0|c1<c0"],
])("%i channels of the layout %s", ([channels, layout, expected]) => {
  expect(stereoMixFilters({ channels, layout }).join(",")).toBe(expected)
})
