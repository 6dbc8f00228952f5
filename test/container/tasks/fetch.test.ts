import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { FetchWork } from "../../../src/contract/tasks/fetch.ts"
import { selectCases } from "../../support/wide.ts"
import { fetched, startFetchHarness } from "./fetch-harness.ts"
import type { FetchHarness } from "./fetch-harness.ts"

const SECONDS = 6

type Picture = [what: string, path: string, quality: FetchWork["quality"], height: number]
const PICTURES = selectCases<Picture>(
  [
    ["HLS with sound of its own", "/page/groups", "best", 360],
    ["DASH", "/page/dash", "360p", 360],
  ],
  [
    ["HLS", "/page/hls", "720p", 720],
    ["HLS with a key", "/media/hls/aes/index.m3u8", "best", 360],
    ["og:video", "/page/og", "best", 360],
  ],
)

type Sound = [path: string, format: FetchWork["audio_format"], extension: string, codec: string]
const SOUNDS = selectCases<Sound>(
  [["/page/webm", "opus", "opus", "opus"]],
  [
    ["/page/video", undefined, "m4a", "aac"],
    ["/page/dash", "mp3", "mp3", "mp3"],
    ["/page/audio", undefined, "mp3", "mp3"],
  ],
)

type Section = [what: string, path: string, start: number, end: number]
const SECTIONS = selectCases<Section>(
  [
    ["a file", "/page/video", 2, 4],
    ["HLS", "/page/hls", 1.5, 3],
  ],
  [
    ["a server without ranges", "/media/tail.mp4?range=no", 2, 4],
    ["more than there is", "/page/video", 4, 600],
  ],
)

let lab: FetchHarness

beforeAll(async () => {
  lab = await startFetchHarness()
})

afterAll(async () => {
  await lab[Symbol.asyncDispose]()
})

describe("a fetch", () => {
  test("stores the video of a page byte for byte, and describes it", async () => {
    const report = await lab.fetch("/page/video?title=A / clip")
    const stored = lab.harness.io.outputs.get("media")
    const original = await fetch(lab.site.url("/media/clip.mp4"))
    expect(stored?.bytes).toEqual(new Uint8Array(await original.arrayBuffer()))
    expect(stored?.contentType).toBe("video/mp4")
    const { media, ...result } = fetched(report)
    expect(result).toMatchObject({ title: "A / clip", subtitles: [] })
    expect(result.duration_seconds).toBeCloseTo(SECONDS, 0)
    expect(media).toMatchObject({
      key: "media",
      name: "A - clip.mp4",
      size_bytes: stored?.bytes.length,
      probe: { width: 640, height: 360 },
    })
    expect(JSON.stringify(report)).not.toContain(lab.harness.settings.workDir)
  })

  test("stores the file of a direct URL under its own name", async () => {
    const { media } = fetched(await lab.fetch("/media/clip.webm"))
    expect(media).toMatchObject({ name: "clip.webm", content_type: "video/webm" })
  })

  test.for(PICTURES)("of %s has picture and sound", async ([, path, quality, height]) => {
    const { media } = fetched(await lab.fetch(path, { quality }))
    expect(media.probe?.height).toBe(height)
    expect(media.probe?.streams.map(({ codec_type }) => codec_type).toSorted()).toEqual([
      "audio",
      "video",
    ])
    expect(media.probe?.duration).toBeCloseTo(SECONDS, 0)
    expect(media.name).toMatch(/\.mp4$/)
  })

  test.for(SOUNDS)("of the audio of %s as %s", async ([path, format, extension, codec]) => {
    const of = { quality: "audio" as const, ...(format && { audio_format: format }) }
    const { media } = fetched(await lab.fetch(path, of))
    expect(media.name).toMatch(new RegExp(`\\.${extension}$`))
    expect(media.probe?.streams).toMatchObject([{ codec_type: "audio", codec_name: codec }])
  })

  test.for(SECTIONS)("of a section of %s", async ([, path, start, end]) => {
    const { media, duration_seconds: seconds } = fetched(await lab.fetch(path, { start, end }))
    expect(seconds).toBeCloseTo(Math.min(end, SECONDS) - start, 0)
    expect(media.probe?.streams).toHaveLength(2)
  })

  test.for([
    ["which the site marks as audio", "/page/audio"],
    ["without a type from the site", "/as/sound.php?file=clip.mp3&type="],
  ])("of a section of audio, %s", async ([, path]) => {
    const { media } = fetched(await lab.fetch(path ?? "", { start: 2, end: 4 }))
    expect(media.probe?.streams).toMatchObject([{ codec_type: "audio" }])
  })

  test("stores subtitles in the languages that exist, as WebVTT", async () => {
    const result = fetched(await lab.fetch("/page/track?title=Talk", { subtitles: ["fr", "de"] }))
    expect(result.subtitles).toMatchObject([
      { key: "subtitles_2", language: "de", name: "Talk.de.vtt", content_type: "text/vtt" },
    ])
    const message = 'The site has no subtitles in the requested languages: "fr".'
    expect(result.warnings).toEqual([{ code: "subtitles_not_found", message }])
    const stored = lab.harness.io.outputs.get("subtitles_2")
    expect(new TextDecoder().decode(stored?.bytes)).toMatch(/^WEBVTT\n[^]*Goodbye\./)
  })

  test("stores subtitles of a section with times from its start", async () => {
    const of = { subtitles: ["en", "de"], start: 1.5, end: 4 }
    const { subtitles, warnings } = fetched(await lab.fetch("/page/track", of))
    expect(subtitles).toHaveLength(2)
    expect(warnings).toEqual([])
    for (const { key } of subtitles) {
      const stored = lab.harness.io.outputs.get(key)
      expect(new TextDecoder().decode(stored?.bytes)).toBe(
        "WEBVTT\n\n00:00:00.000 --> 00:00:00.500\nHello.\n\n00:00:00.500 --> 00:00:02.500\nGoodbye.\n",
      )
    }
    const late = fetched(await lab.fetch("/page/track", { subtitles: ["en"], start: 5 }))
    expect(late.subtitles).toHaveLength(1)
    const words = lab.harness.io.outputs.get("subtitles_1")?.bytes
    expect(new TextDecoder().decode(words)).toBe("WEBVTT\n")
  })

  test("stores subtitles of HLS", async () => {
    const { subtitles } = fetched(await lab.fetch("/media/hls/groups.m3u8", { subtitles: ["en"] }))
    expect(subtitles).toMatchObject([{ key: "subtitles_1", language: "en" }])
  })

  test("reports its progress", async () => {
    fetched(await lab.fetch("/as/slow.mp4?file=clip.mp4&rate=60000"))
    const percents = lab.harness.io.reports.flatMap((report) =>
      report.kind === "progress" ? report.percent : [],
    )
    expect(percents.some((percent) => percent > 10 && percent < 95)).toBe(true)
    expect(percents).toEqual(percents.toSorted((one, other) => one - other))
  })

  test("resumes after a broken connection", async () => {
    const { media } = fetched(await lab.fetch("/media/clip.mp4?cut=20000&times=2"))
    expect(media.probe?.streams).toHaveLength(2)
  })
})
