import { escapeHtml } from "../visit.ts"
import type { LinkingBody } from "../way.ts"

/** Playlists and feeds of other formats that contain a URL. */
export const PLAYLIST_BODIES_WITH_LINK: Record<string, LinkingBody> = {
  rss: xml((to) => {
    const item = `<item><title>A clip</title><enclosure url="${to}" type="video/mp4"/></item>`
    return `<rss version="2.0"><channel><title>Clips</title>${item}</channel></rss>`
  }),
  xspf: xml((to) => {
    const track = `<track><title>A clip</title><location>${to}</location></track>`
    return `<playlist version="1" xmlns="http://xspf.org/ns/0/"><trackList>${track}</trackList></playlist>`
  }),
  smil: xml((to) => `<smil><body><video src="${to}"/></body></smil>`),
  ffconcat: {
    type: "application/octet-stream",
    write: (to) => `ffconcat version 1.0\nfile '${to}'\n`,
  },
}

function xml(write: (to: string) => string): LinkingBody {
  return {
    type: "application/xml",
    write: (to) => `<?xml version="1.0"?>\n${write(escapeHtml(to))}\n`,
  }
}
