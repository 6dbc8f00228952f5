import { selectCases } from "../../support/wide.ts"
import type { WayIn } from "./web-ways-in.ts"

/**
 * A URL of the site that leads on to another, and how that ends; null where the rest is fetched.
 */
type Lead = { name: WayIn; way: string; to: string; code: string | null }

const INSIDE = "http://CANARY/clip.mp4"

/** Ways that lead inside, and how each ends. */
type Ends = Record<string, string | null>

/** As a fetch ends; here and below one way of each kind. */
const FETCHED: Ends = {
  "video.html": "url_not_allowed",
  "track.html": null,
  "hls-key-redirect.m3u8": "url_not_allowed",
  "hls-nested.m3u8": "url_not_allowed",
  "dash-segment.mpd": "url_not_allowed",
  "rss.rss": "url_not_allowed",
}

const OTHERS_FETCHED: Ends = {
  "iframe.html": "unsupported_site",
  "og-video.html": "url_not_allowed",
  "og-image.html": null,
  "json-ld.html": "url_not_allowed",
  "base.html": "not_found",
  "hls-segment.m3u8": "url_not_allowed",
  "hls-key.m3u8": "url_not_allowed",
  "hls-segment-redirect.m3u8": "url_not_allowed",
  "hls-audio.m3u8": null,
  "hls-subtitles.m3u8": null,
  "dash-base.mpd": "url_not_allowed",
  "dash-entity.mpd": "unsupported_site",
  "xspf.xspf": "url_not_allowed",
  "smil.smil": "url_not_allowed",
  "redirect.mp4": "url_not_allowed",
  "refresh.html": "url_not_allowed",
}

/** As an import ends, which stores lists of other kinds as they are. */
const IMPORTED: Ends = {
  "hls-segment.m3u8": "url_not_allowed",
  "ffconcat.ffconcat": null,
  "redirect.mp4": "url_not_allowed",
}

const OTHERS_IMPORTED: Ends = {
  "video.html": "url_not_allowed",
  "hls-key.m3u8": "url_not_allowed",
  "hls-nested.m3u8": "url_not_allowed",
  "dash-base.mpd": "url_not_allowed",
}

/** As a lookup ends, which reads manifests and no media. */
const LOOKED_UP: Ends = {
  "hls-nested.m3u8": null,
  "meta-refresh.html": "url_not_allowed",
}

const OTHERS_LOOKED_UP: Ends = {
  "video.html": null,
  "rss.rss": "url_not_allowed",
  "redirect.mp4": "url_not_allowed",
}

/** URLs of other schemes than those of the web, which a page may name as well. */
const OTHER_SCHEMES: Lead[] = [
  { name: "fetch", way: "video.html", to: "file:///etc/passwd", code: "url_not_allowed" },
  { name: "fetch", way: "hls-segment.m3u8", to: "file:///etc/passwd", code: "url_not_allowed" },
  { name: "file", way: "redirect.mp4", to: "file:///etc/passwd", code: "url_not_allowed" },
  { name: "file", way: "redirect.mp4", to: "data:video/mp4,root:", code: "url_not_allowed" },
]

const MORE_OTHER_SCHEMES: Lead[] = [
  { name: "fetch", way: "video.html", to: "rtmp://CANARY/live/clip", code: "url_not_allowed" },
  { name: "fetch", way: "video.html", to: "ftp://CANARY/clip.mp4", code: "url_not_allowed" },
  { name: "fetch", way: "og-video.html", to: "concat:/etc/passwd.mp4", code: "url_not_allowed" },
  { name: "fetch", way: "hls-key.m3u8", to: "file:///etc/hostname", code: "url_not_allowed" },
  { name: "fetch", way: "dash-segment.mpd", to: "file:///etc/passwd", code: "url_not_allowed" },
  { name: "fetch", way: "redirect.mp4", to: "file:///etc/passwd", code: "url_not_allowed" },
  { name: "file", way: "hls-segment.m3u8", to: "file:///etc/passwd", code: "url_not_allowed" },
]

/** The leads, most of which are slow for the start of yt-dlp that each takes. */
export const LEADS: Lead[] = selectCases(
  [
    ...leadsInside("fetch", FETCHED),
    ...leadsInside("file", IMPORTED),
    ...leadsInside("metadata", LOOKED_UP),
    ...leadsInside("command", { "redirect.mp4": "input_failed" }),
    ...OTHER_SCHEMES,
  ],
  [
    ...leadsInside("fetch", OTHERS_FETCHED),
    ...leadsInside("file", OTHERS_IMPORTED),
    ...leadsInside("metadata", OTHERS_LOOKED_UP),
    ...leadsInside("command", { "video.html": "input_failed" }),
    ...MORE_OTHER_SCHEMES,
  ],
)

function leadsInside(name: WayIn, ends: Ends): Lead[] {
  return Object.entries(ends).map(([way, code]) => ({ name, way, to: INSIDE, code }))
}
