import { describe, expect, it } from "vitest"
import {
  describeContainerFormat,
  describeStreams,
  formatFraction,
} from "../../src/dashboard/pages/files/probe.ts"

const PROBE = {
  format_name: "mov,mp4",
  streams: [
    {
      codec_type: "video",
      codec_name: "h264",
      codec_long_name: "H.264",
      profile: "High",
      width: 1920,
      height: 1080,
      display_aspect_ratio: "16:9",
      avg_frame_rate: "30000/1001",
      pix_fmt: "yuv420p10le",
      color_transfer: "smpte2084",
      bit_rate: "5300000",
      duration: "61.5",
      disposition: { default: 1, forced: 0 },
      tags: { language: "und" },
    },
    {
      codec_type: "audio",
      codec_name: "aac",
      channels: 2,
      channel_layout: "stereo",
      sample_rate: "48000",
      tags: { language: "deu", title: "<b>" },
    },
    { codec_type: 7, width: "wide", tags: "none", disposition: null, duration: "N/A" },
  ],
  format: { format_long_name: "QuickTime / MOV", size: "2048", bit_rate: "900", duration: "61.5" },
}

describe("describeStreams", () => {
  it("shows the main facts of a picture", () => {
    const [video] = describeStreams(PROBE)
    expect(video?.title).toBe("Video · stream 0")
    expect(Object.fromEntries(video?.facts ?? [])).toEqual({
      Codec: "H.264, High",
      Picture: "1920 × 1080 (16:9)",
      "Frame rate": "29.97 fps",
      Pixels: "yuv420p10le, HDR",
      "Bit rate": "5.3 Mb/s",
      Duration: "1 min 2 s",
      Disposition: "default",
    })
  })

  it("shows the main facts of audio", () => {
    const [, audio] = describeStreams(PROBE)
    expect(Object.fromEntries(audio?.facts ?? [])).toEqual({
      Codec: "aac",
      Channels: "2 (stereo)",
      "Sample rate": "48,000 Hz",
      Language: "deu",
      Title: "<b>",
    })
  })

  it("omits implausible facts", () => {
    expect(describeStreams(PROBE)[2]).toEqual({ title: "Unknown · stream 2", facts: [] })
  })
})

describe("describeFormat", () => {
  it("names the container", () => {
    expect(Object.fromEntries(describeContainerFormat(PROBE).facts)).toEqual({
      Format: "QuickTime / MOV",
      Duration: "1 min 2 s",
      Size: "2 KB",
      "Bit rate": "1 kb/s",
    })
  })
})

describe("formatFraction", () => {
  it.each([
    ["25/1", "25"],
    ["24000/1001", "23.98"],
    ["30", "30"],
    ["0/0", undefined],
    ["x", undefined],
    [undefined, undefined],
  ])("reads %s as %s", (fraction, expected) => {
    expect(formatFraction(fraction)).toBe(expected)
  })
})
