import { serveMediaFile } from "./media-answer.ts"
import { makeTextResponse } from "./visit.ts"
import type { SiteResponse, SiteRouteContext } from "./visit.ts"

const SEGMENTS = 6
const WINDOW = 3

/**
 * Serves a live HLS stream. The playlist `index.m3u8` never ends, and lists other segments each
 * second.
 */
export function serveLiveStream({ folder }: SiteRouteContext, rest: string): SiteResponse | null {
  const [, number] = /^segment-(\d+)\.ts$/.exec(rest) ?? []
  if (number !== undefined) {
    return serveMediaFile(folder, `hls/360p/index${Number(number) % SEGMENTS}.ts`)
  }
  if (rest !== "index.m3u8") return null
  const first = Math.floor(Date.now() / 1000) - WINDOW
  const segments = Array.from({ length: WINDOW }, (_, index) => {
    return `#EXTINF:1.0,\nsegment-${first + index}.ts`
  })
  const head = `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:${first}`
  return makeTextResponse("application/vnd.apple.mpegurl", `${[head, ...segments].join("\n")}\n`)
}
