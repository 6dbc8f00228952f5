import { describe, expect, test } from "vitest"
import { parsePlaylist } from "../../../container/tasks/outputs/playlist.ts"
import { measureCpuMs } from "../../support/processor-time.ts"

describe("an HLS playlist", () => {
  test.for([
    ["empty lines", "\n".repeat(4_000_000)],
    ["short lines", "a\n".repeat(2_000_000)],
    ["invalid URIs", Array.from({ length: 800_000 }, (_, n) => `%${n}`).join("\n")],
    ["invalid durations", "#EXTINF:.\n".repeat(400_000)],
  ])("is read quickly with %s", async ([, text = ""]) => {
    expect(await measureCpuMs(() => parsePlaylist("a.m3u8", text))).toBeLessThan(5000)
  })

  test("names its lines and URIs, literally or decoded, and has keys and a duration", () => {
    const text = `#EXTM3U\r\n#EXT-X-KEY:METHOD=AES-128,URI="the key.bin"\r
#EXT-X-MAP:URI="init.mp4",BYTERANGE="1@0"\r\n#EXTINF:4.500000,title, with a comma\r
./a%201.ts\r\n#EXTINF:2,\n100%.ts\n#EXT-X-ENDLIST\n`
    const { isNaming, durationSeconds, keys } = parsePlaylist("a.m3u8", text)
    const named = ["init.mp4", "a 1.ts", "a%201.ts", "100%.ts"]
    expect(named.filter(isNaming)).toEqual(named)
    expect(["title", "b.ts", "#EXTM3U"].filter(isNaming)).toEqual([])
    expect(durationSeconds).toBe(6.5)
    expect([...keys]).toContain("the key.bin")
  })

  test("of variants has no duration", () => {
    const text = `#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,URI="sound.m3u8"\n#EXT-X-STREAM-INF:\nfilm.m3u8\n`
    const { isNaming, durationSeconds } = parsePlaylist("m.M3U8", text)
    expect([isNaming("sound.m3u8"), isNaming("film.m3u8"), durationSeconds]).toEqual([
      true,
      true,
      null,
    ])
  })
})

describe("a DASH manifest", () => {
  test("names templates, base URLs and initializations, and has a duration", () => {
    const text = `<MPD mediaPresentationDuration="PT1H2M3.5S"><BaseURL>whole &amp; one.mp4</BaseURL>
<SegmentTemplate initialization="init-$RepresentationID$.m4s" media="c-$RepresentationID$-$Number%05d$.m4s"/>
<SegmentList><Initialization sourceURL="head.mp4"/><SegmentURL media="s1.m4s"/></SegmentList></MPD>`
    const { isNaming, durationSeconds } = parsePlaylist("a.mpd", text)
    const named = ["whole & one.mp4", "init-0.m4s", "c-video-00012.m4s", "head.mp4", "s1.m4s"]
    expect(named.filter(isNaming)).toEqual(named)
    expect(["c-0-x.m4s", "s2.m4s", "init-.m4s"].filter(isNaming)).toEqual([])
    expect(durationSeconds).toBe(3723.5)
  })

  test("matches dollar signs and both fields of a template, text and number", () => {
    const { isNaming } = parsePlaylist("a.mpd", `<S media="./$$$RepresentationID$x$Time$.m4s"/>`)
    const named = ["$ax1.m4s", "$xx0.m4s", "$x1x2x3.m4s"]
    expect(named.filter(isNaming)).toEqual(named)
    expect(["$x1.m4s", "ax1.m4s", "$ax1x.m4s", "$ax.m4s"].filter(isNaming)).toEqual([])
  })

  test.for([
    ["many fields", `<S media="${"$RepresentationID$".repeat(100)}-"/>`],
    ["many templates", `<S media="$RepresentationID$$Number$-"/>`.repeat(10_000)],
    ["unterminated elements", "<BaseURL".repeat(200_000)],
  ])("is read quickly with %s", async ([, text = ""]) => {
    const tookMs = await measureCpuMs(() => {
      const { isNaming } = parsePlaylist("a.mpd", text)
      for (let each = 0; each < 100; each += 1) expect(isNaming("1".repeat(240))).toBe(false)
    })
    expect(tookMs).toBeLessThan(1000)
  })
})
