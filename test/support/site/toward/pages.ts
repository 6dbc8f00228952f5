import { escapeHtml } from "../visit.ts"
import type { LinkingBody } from "../way.ts"

/** HTML pages that contain a URL. */
export const PAGE_BODIES_WITH_LINK: Record<string, LinkingBody> = {
  video: html((to) => `<video src="${to}"></video>`),
  iframe: html((to) => `<iframe src="${to}"></iframe>`),
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
  "meta-refresh": html((to) => `<meta http-equiv="refresh" content="0; url=${to}">`),
  "json-ld": html((to) => jsonLd({ contentUrl: to })),
  base: html((to) => `<base href="${to}"><video src="clip.mp4"></video>`),
}

function html(write: (to: string) => string): LinkingBody {
  return {
    type: "text/html",
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
