import type { Way } from "./toward.ts"
import { escapeHtml } from "./visit.ts"

/** Lists of other kinds that lead to a URL. */
export const listWays: Record<string, Way> = {
  rss: xml("rss", (to) => {
    const item = `<item><title>A clip</title><enclosure url="${to}" type="video/mp4"/></item>`
    return `<rss version="2.0"><channel><title>Clips</title>${item}</channel></rss>`
  }),
  xspf: xml("xspf", (to) => {
    const track = `<track><title>A clip</title><location>${to}</location></track>`
    return `<playlist version="1" xmlns="http://xspf.org/ns/0/"><trackList>${track}</trackList></playlist>`
  }),
  smil: xml("smil", (to) => `<smil><body><video src="${to}"/></body></smil>`),
  f4m: xml("f4m", (to) => {
    return `<manifest xmlns="http://ns.adobe.com/f4m/1.0"><media url="${to}" bitrate="100"/></manifest>`
  }),
  m3u: { type: "audio/x-mpegurl", extension: "m3u", write: (to) => `${to}\n` },
  ffconcat: {
    type: "application/octet-stream",
    extension: "ffconcat",
    write: (to) => `ffconcat version 1.0\nfile '${to}'\n`,
  },
}

function xml(extension: string, write: (to: string) => string): Way {
  return {
    type: "application/xml",
    extension,
    write: (to) => `<?xml version="1.0"?>\n${write(escapeHtml(to))}\n`,
  }
}
