import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { FailureCode } from "../../../src/contract/failure.ts"
import type { FetchWork } from "../../../src/contract/tasks/fetch.ts"
import { startCanaryServer } from "../../support/site/canary.ts"
import type { CanaryServer } from "../../support/site/canary.ts"
import { selectCases } from "../../support/wide.ts"
import { startFetchHarness } from "./fetch-harness.ts"
import type { FetchHarness } from "./fetch-harness.ts"

let lab: FetchHarness
let canary: CanaryServer

beforeAll(async () => {
  lab = await startFetchHarness()
  canary = await startCanaryServer()
})

afterAll(async () => {
  await lab[Symbol.asyncDispose]()
  await canary.close()
})

type Case = [path: string, code: FailureCode, sentence: RegExp, of?: Partial<FetchWork>]

/** Cases of the wide run: further pages with the same failures as those of the first list. */
const CASES = selectCases<Case>(
  [
    ["/media/picture.png", "unsupported_site", /neither video nor audio/],
    ["/page/several", "playlist_not_supported", /a page of several videos|of 3 videos/],
    ["/live/index.m3u8", "live_stream", /live stream/],
    ["/media/hls/drm.m3u8", "drm_protected", /DRM/],
    ["/page/gone", "not_found", /404/],
    ["/page/hls", "too_large", /at most 48\.8 KiB/, { bytes_max: 50_000 }],
    ["/page/video", "invalid_input", /^start: 60 is past .* 6 seconds/, { start: 60 }],
    ["/page/webm", "invalid_input", /^start: 6.02 is past the end/, { start: 6.02 }],
    ["/page/slow", "too_slow", /slow/, { run_seconds_max: 3 }],
    ["file:///etc/passwd", "url_not_allowed", /http or https/],
  ],
  [
    ["/page/nothing", "unsupported_site", /^The page has no video/],
    ["/cookies/page", "login_required", /403/],
    ["/redirect/loop", "too_many_redirects", /redirects/],
    ["/page/large?bytes=100000", "too_large", /97\.7 KiB.* 48\.8 KiB/, { bytes_max: 50_000 }],
    ["http://localhost/x", "url_not_allowed", /"localhost"/],
    ["ytsearch://cats", "url_not_allowed", /http or https/],
  ],
)

describe("a fetch fails", () => {
  test.for(CASES)("of %s as %s", async ([path, code, sentence, of]) => {
    const report = await lab.fetch(path, of)
    expect(report).toMatchObject({ kind: "failed", blame: "caller", failure: { code } })
    if (report.kind !== "failed") return
    expect(report.failure.message).toMatch(sentence)
    expect(report.failure.message).toMatch(/[^.]\.$/)
    expect(JSON.stringify(report)).not.toContain(lab.harness.settings.workDir)
    expect(JSON.stringify(report)).not.toMatch(/site-packages|--cookies|yt-dlp -U/)
    expect(lab.harness.io.outputs.size).toBe(0)
  })

  test("after several tries of a failing server", async () => {
    lab.site.requests.length = 0
    const report = await lab.fetch("/status/503")
    expect(report).toMatchObject({ kind: "failed", failure: { code: "server_error" } })
    expect(lab.site.requests.length).toBeGreaterThan(1)
  })

  test.for(
    selectCases(
      ["/toward/dash-base.mpd"],
      ["/toward/video.html", "/toward/redirect.mp4", "/toward/hls-segment.m3u8"],
    ),
  )("if %s leads to a private address, which is not contacted", async (path) => {
    const to = encodeURIComponent(canary.url("/secret.mp4"))
    const report = await lab.fetch(`${path}?to=${to}`)
    expect(report).toMatchObject({ kind: "failed", failure: { code: "url_not_allowed" } })
    expect(canary.connections()).toBe(0)
  })

  test.for(
    selectCases(["/toward/dash-segment.mpd"], ["/toward/video.html", "/toward/hls-segment.m3u8"]),
  )("if %s names a file of this machine", async (path) => {
    const report = await lab.fetch(`${path}?to=file:///etc/passwd`)
    expect(report).toMatchObject({ kind: "failed", blame: "caller" })
    expect(JSON.stringify(report)).not.toContain("root:")
  })

  test("without reading options from the URL's fragment", async () => {
    const orders = { http_headers: { "Ytdl-request-proxy": canary.origin } }
    const smuggled = new URLSearchParams({ __youtubedl_smuggle: JSON.stringify(orders) })
    const report = await lab.fetch(`/page/nothing#${smuggled.toString()}`)
    expect(report).toMatchObject({ kind: "failed", failure: { code: "unsupported_site" } })
    expect(canary.connections()).toBe(0)
  })
})
