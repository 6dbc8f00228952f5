import { describe, expect, test } from "vitest"
import { LIBRARIES, planBuilds } from "../../../container/ffmpeg/build-options.ts"
import { findEncoder } from "../../../container/tools/loudness/encoders.ts"
import { AUDIO_PRESETS, VIDEO_PRESETS } from "../../../container/tools/renditions/presets.ts"

const [media, fetching] = planBuilds(LIBRARIES, "7:7.1.5-0+deb13u1")

describe("ffmpeg for media", () => {
  test("has no network, no device but lavfi, and no protocol that a command could not use", () => {
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

  test("has every library that the service's own work encodes by", () => {
    const sound = ["mp3", "opus", "vorbis"].map((codec) => findEncoder(codec))
    const encoders = JSON.stringify([sound, AUDIO_PRESETS, VIDEO_PRESETS]).matchAll(
      /"(lib[a-z0-9]+)/g,
    )
    const needed = new Set([...encoders].map(([, name]) => name))
    const required = LIBRARIES.filter((each) => !each.isOptional).map(({ option }) => option)
    expect(needed.size).toBeGreaterThan(5)
    expect([...needed].filter((name) => name !== undefined && !required.includes(name))).toEqual([])
  })

  test("names each library once, with a reason", () => {
    expect(new Set(LIBRARIES.map(({ option }) => option)).size).toBe(LIBRARIES.length)
    expect(LIBRARIES.filter(({ why }) => why === "")).toEqual([])
  })

  test("says the version of Debian's source", () => {
    expect(media?.words).toContain("--extra-version=0+deb13u1")
  })
})

test("ffprobe is made last, without what writes and without all libraries but dav1d", () => {
  const [first, last] = media?.programs ?? []
  expect(first).toMatchObject({ made: "ffmpeg", installed: "ffmpeg", leftOut: [] })
  expect(last?.made).toBe("ffprobe")
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

test("the ffmpeg that downloads has little beside its network", () => {
  expect(fetching?.words).toContain("--disable-everything")
  expect(fetching?.words).not.toContain("--disable-network")
  expect(fetching?.programs).toMatchObject([{ made: "ffmpeg", installed: "fetch-ffmpeg" }])
})
