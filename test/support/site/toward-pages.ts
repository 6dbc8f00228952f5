import type { Way } from "./toward.ts"
import { escapeHtml } from "./visit.ts"

/** Pages that lead to a URL. */
export const pageWays: Record<string, Way> = {
  video: html((to) => `<video src="${to}"></video>`),
  source: html((to) => `<video><source src="${to}" type="video/mp4"></video>`),
  audio: html((to) => `<audio src="${to}"></audio>`),
  iframe: html((to) => `<iframe src="${to}"></iframe>`),
  embed: html((to) => `<embed src="${to}"><object data="${to}"></object>`),
  track: html((to) => {
    const track = `<track kind="subtitles" srclang="en" src="${to}">`
    return `<video src="/media/clip.mp4">${track}</video>`
  }),
  "og-video": html((to) => {
    const type = '<meta property="og:video:type" content="video/mp4">'
    return `${type}<meta property="og:video" content="${to}">`
  }),
  "og-image": html((to) => {
    return `<meta property="og:image" content="${to}"><video src="/media/clip.mp4"></video>`
  }),
  twitter: html((to) => `<meta name="twitter:player:stream" content="${to}">`),
  "meta-refresh": html((to) => `<meta http-equiv="refresh" content="0; url=${to}">`),
  "json-ld": html((to) => jsonLd({ contentUrl: to })),
  "json-ld-embed": html((to) => jsonLd({ embedUrl: to })),
  base: html((to) => `<base href="${to}"><video src="clip.mp4"></video>`),
  jwplayer: html((to) => {
    return `<script>jwplayer("player").setup({"file": "${to}", "title": "A clip"})</script>`
  }),
  videojs: html((to) => {
    return `<script>var player = videojs("v"); player.src([{"src": "${to}", "type": "application/x-mpegurl"}]);</script>`
  }),
}

function html(write: (to: string) => string): Way {
  return {
    type: "text/html",
    extension: "html",
    write: (to) =>
      `<!doctype html><html><head><title>A page</title></head><body>${write(escapeHtml(to))}</body></html>\n`,
  }
}

function jsonLd(more: Record<string, string>): string {
  const video = {
    "@context": "https://schema.org",
    "@type": "VideoObject",
    name: "A clip",
    ...more,
  }
  return `<script type="application/ld+json">${JSON.stringify(video)}</script>`
}
