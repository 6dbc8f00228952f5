import { escapeHtml, makePageResponse } from "./visit.ts"
import type { SiteResponse, SiteRouteContext } from "./visit.ts"

/** Metadata of the video on the page `json-ld`. */
export const JSON_LD_METADATA = {
  title: "A clip with facts",
  description: "All that a page can say of a video.",
  duration: 6,
  uploadDate: "2026-10-20",
  uploader: "The uploader",
  viewCount: 1234,
  likeCount: 56,
  commentCount: 7,
}

const VIDEO = '<video src="/media/clip.mp4"></video>'

/**
 * Content of the pages at `/page/NAME?title=...`, by name. Some pages have an unusual video: on the
 * page `gone` it does not exist, on `slow` it is sent at 1000 bytes per second, and on `large` it
 * has as many bytes as the query parameter `bytes`. `login` asks for a password. `times=N` repeats
 * titles and descriptions N times.
 */
const pages: Record<string, (url: URL) => { head?: string; body?: string }> = {
  video: () => ({ body: VIDEO }),
  source: () => ({
    body: '<video><source src="/media/clip.webm" type="video/webm"><source src="/media/clip.mp4" type="video/mp4"></video>',
  }),
  og: () => ({
    head:
      '<meta property="og:title" content="A clip to share">' +
      '<meta property="og:video:type" content="video/mp4">' +
      '<meta property="og:video" content="/media/clip.mp4">' +
      '<meta property="og:image" content="/media/picture.png">',
  }),
  iframe: () => ({ body: '<iframe src="/page/video"></iframe>' }),
  "json-ld": (url) => ({ head: jsonLd(url) }),
  track: () => ({
    body:
      '<video src="/media/clip.mp4"><track kind="subtitles" srclang="en" src="/media/captions.vtt">' +
      '<track kind="subtitles" srclang="de" src="/media/captions.srt"></video>',
  }),
  audio: () => ({ body: '<audio src="/media/clip.mp3"></audio>' }),
  webm: () => ({ body: '<video src="/media/clip.webm"></video>' }),
  several: () => ({
    body:
      '<video src="/media/clip.mp4"></video><video src="/media/clip.webm"></video>' +
      '<video src="/media/tail.mp4"></video>',
  }),
  nothing: () => ({ body: "<p>There is nothing to see here.</p>" }),
  hls: () => videoOf("/media/hls/master.m3u8"),
  groups: () => videoOf("/media/hls/groups.m3u8"),
  aes: () => videoOf("/media/hls/aes/index.m3u8"),
  dash: () => videoOf("/media/dash/manifest.mpd"),
  live: () => videoOf("/live/index.m3u8"),
  drm: () => videoOf("/media/hls/drm.m3u8"),
  login: () => ({
    body: '<form method="post"><p>Log in to see this video.</p><input type="password" name="password"></form>',
  }),
  gone: () => videoOf("/media/gone.mp4"),
  slow: () => videoOf("/as/slow.mp4?file=clip.mp4&rate=1000"),
  large: (url) => videoOf(`/bytes/large.mp4?size=${url.searchParams.get("bytes") ?? "1000000"}`),
}

/** Returns a page of the test site, or null if there is no page with this name. */
export function servePage({ url }: SiteRouteContext, name: string): SiteResponse | null {
  const parts = Object.hasOwn(pages, name) ? pages[name]?.(url) : undefined
  if (!parts) return null
  const title = url.searchParams.get("title") ?? `The page ${name}`
  return makePageResponse({ title: title.repeat(timesOf(url)), ...parts })
}

function timesOf(url: URL): number {
  return Number(url.searchParams.get("times") ?? 1)
}

function videoOf(src: string): { body: string } {
  return { body: `<video src="${escapeHtml(src)}"></video>` }
}

function jsonLd(url: URL): string {
  const facts = JSON_LD_METADATA
  const counts = [
    ["WatchAction", facts.viewCount],
    ["LikeAction", facts.likeCount],
    ["CommentAction", facts.commentCount],
  ]
  const video = {
    "@context": "https://schema.org",
    "@type": "VideoObject",
    name: url.searchParams.get("title") ?? facts.title,
    description: facts.description.repeat(timesOf(url)),
    duration: `PT${facts.duration}S`,
    uploadDate: facts.uploadDate,
    author: { "@type": "Person", name: facts.uploader },
    thumbnailUrl: new URL("/media/picture.png", url).href,
    contentUrl: new URL("/media/clip.mp4", url).href,
    interactionStatistic: counts.map(([type, count]) => ({
      "@type": "InteractionCounter",
      interactionType: `https://schema.org/${type}`,
      userInteractionCount: count,
    })),
  }
  return `<script type="application/ld+json">${JSON.stringify(video)}</script>`
}
