import { describe, expect, test } from "vitest"
import { FFMPEG_LIBRARIES, planFfmpegBuilds } from "../../../container/ffmpeg/build-options.ts"
import { findAudioEncoder } from "../../../container/tools/loudness/audio-encoders.ts"
import {
  AUDIO_ENCODER_PRESETS,
  VIDEO_ENCODER_PRESETS,
} from "../../../container/tools/renditions/encoder-presets.ts"

const [media, fetching] = planFfmpegBuilds(FFMPEG_LIBRARIES, "7:7.1.5-0+deb13u1")

describe("ffmpeg for media", () => {
  test("has no network, no device but lavfi, and only protocols that commands can use", () => {
    expect(media?.words).toEqual(
      expect.arrayContaining([
        "--disable-network",
        "--disable-devices",
        "--disable-protocols",
        "--disable-autodetect",
        "--toolchain=hardened",
      ]),
    )
    const enabled = media?.words.filter((word) => /^--enable-(?:protocol|(?:in|out)dev)/.test(word))
    expect(enabled).toEqual([
      "--enable-indev=lavfi",
      ...["file", "pipe", "concat", "crypto"].map((name) => `--enable-protocol=${name}`),
    ])
  })

  test("has every encoder library that the service's own work uses", () => {
    const sound = ["mp3", "opus", "vorbis"].map((codec) => findAudioEncoder(codec))
    const encoders = JSON.stringify([sound, AUDIO_ENCODER_PRESETS, VIDEO_ENCODER_PRESETS]).matchAll(
      /"(lib[a-z0-9]+)/g,
    )
    const needed = new Set([...encoders].map(([, name]) => name))
    const required = FFMPEG_LIBRARIES.filter((each) => !each.isOptional).map(({ option }) => option)
    expect(needed.size).toBeGreaterThan(5)
    expect([...needed].filter((name) => name !== undefined && !required.includes(name))).toEqual([])
  })

  test("lists each library once, with a reason", () => {
    expect(new Set(FFMPEG_LIBRARIES.map(({ option }) => option)).size).toBe(FFMPEG_LIBRARIES.length)
    expect(FFMPEG_LIBRARIES.filter(({ why }) => why === "")).toEqual([])
  })

  test("includes the version of Debian's source", () => {
    expect(media?.words).toContain("--extra-version=0+deb13u1")
  })
})

test("ffprobe is built last, without writers and with dav1d as its only library", () => {
  const [first, last] = media?.programs ?? []
  expect(first).toMatchObject({ target: "ffmpeg", installed: "ffmpeg", leftOut: [] })
  expect(last?.target).toBe("ffprobe")
  const codecs = last?.leftOut.find(({ list }) => list === "libavcodec/codec_list.c")
  const names = [
    "aac_encoder",
    "aac_decoder",
    "libx264_encoder",
    "libgsm_decoder",
    "libdav1d_decoder",
  ]
  expect(names.filter((name) => codecs?.names.test(`ff_${name}`))).toEqual([
    "aac_encoder",
    "libx264_encoder",
    "libgsm_decoder",
  ])
})

test("the ffmpeg for downloads has little besides its network", () => {
  expect(fetching?.words).toContain("--disable-everything")
  expect(fetching?.words).not.toContain("--disable-network")
  expect(fetching?.programs).toMatchObject([{ target: "ffmpeg", installed: "fetch-ffmpeg" }])
})
