import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { startCountedService } from "../../scripts/bench/counted/service.ts"
import type { CountedService } from "../../scripts/bench/counted/service.ts"
import { createBenchResources } from "../../scripts/bench/scope.ts"
import { startLoopbackServer } from "../../scripts/cli/loopback-server.ts"
import type { LoopbackServer } from "../../scripts/cli/loopback-server.ts"
import { openAccount } from "../corpus/account.ts"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { LACK, openBrowser } from "./browser.ts"
import type { TestBrowser } from "./browser.ts"

const SECONDS = 24
/** Segments have half a second, so that there are many requests for few periodic queries. */
const COMMAND =
  `ffmpeg -f lavfi -i testsrc2=s=320x180:r=20:d=${SECONDS} -f lavfi -i sine=f=440:d=${SECONDS}` +
  " -c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 10 -c:a aac -f hls -hls_time 0.5" +
  " -hls_playlist_type vod {{out_1}}"

const require = createRequire(import.meta.url)
const scope = createBenchResources()
let service: CountedService
let site: LoopbackServer
let browser: TestBrowser

describe.skipIf(LACK !== null)(`a player of another origin${makeSkipSuffix(LACK)}`, () => {
  beforeAll(async () => {
    const script = await readFile(require.resolve("hls.js/dist/hls.min.js"))
    site = scope.use(
      await startLoopbackServer((request, response) => {
        const isScript = request.url === "/hls.js"
        const type = isScript ? "text/javascript" : "text/html"
        response.writeHead(200, { "content-type": type })
        response.end(isScript ? script : '<video muted></video><script src="/hls.js"></script>')
      }),
    )
    service = await startCountedService(scope, { CORS_ORIGINS: site.origin })
    browser = scope.use(await openBrowser())
  })

  afterAll(async () => await scope.close())

  it("plays a bundle by its download_url and seeks, while D1 hears nothing of it", async () => {
    const key = await service.makeKey("player", "paid")
    const account = openAccount(service.origin, key)
    const output_files = { out_1: "film.m3u8" }
    const { record } = await account.run({
      ffmpeg_command: COMMAND,
      input_files: {},
      output_files,
    })
    const film = record?.output_files["out_1"]
    if (film === undefined || typeof film === "string") throw new Error(record?.error)

    const page = await browser.openPage(service)
    await page.goto(site.origin)
    const segments = watchSegments(page)
    await page.evaluate(loadScript(film.download_url, key))
    const before = (await service.counts())["d1.trips"] ?? 0
    for (const second of [4, 20, 10]) {
      expect(await page.evaluate(seekScript(second))).toBeGreaterThan(second)
    }
    await expect.poll(() => segments.length).toBeGreaterThan(SECONDS)
    expect(segments.every((status) => status === 200)).toBe(true)
    // The service's own upkeep asks D1 from time to time.
    const trips = ((await service.counts())["d1.trips"] ?? 0) - before
    expect(trips).toBeLessThan(segments.length / 2)
  })
})

/** Returns the statuses of the segments that a page loads from now on. */
function watchSegments(page: Page): number[] {
  const statuses: number[] = []
  page.on("response", (response) => {
    if (new URL(response.url()).pathname.endsWith(".ts")) statuses.push(response.status())
  })
  return statuses
}

/** A script that opens the URL with a key in hls.js, which needs none for what it leads to. */
function loadScript(url: string, key: string): string {
  return `new Promise((resolve, reject) => {
    const player = new Hls({
      maxBufferLength: 60,
      xhrSetup: (request, url) => {
        if (url.includes("/v1/")) request.setRequestHeader("x-api-key", ${JSON.stringify(key)})
      },
    })
    player.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && reject(new Error(details)))
    player.on(Hls.Events.MANIFEST_PARSED, () => resolve())
    player.loadSource(${JSON.stringify(url)})
    player.attachMedia(document.querySelector("video"))
  })`
}

/** A script that seeks to a second. Returns the time at which the video then plays. */
function seekScript(second: number): string {
  return `new Promise((resolve) => {
    const video = document.querySelector("video")
    video.currentTime = ${second}
    video.addEventListener("timeupdate", function told() {
      if (video.seeking || video.currentTime <= ${second}) return
      video.removeEventListener("timeupdate", told)
      resolve(video.currentTime)
    })
    void video.play()
  })`
}
