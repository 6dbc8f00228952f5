import type { LinkingBody } from "../way.ts"

const SEGMENT = "#EXTINF:1.0,\n/media/hls/360p/index0.ts"
const STREAM = "#EXT-X-STREAM-INF:BANDWIDTH=360000,RESOLUTION=640x360"

/** HLS playlists that contain a URL. */
export const HLS_BODIES_WITH_LINK: Record<string, LinkingBody> = {
  "hls-segment": playlist((to) => `${SEGMENT}\n#EXTINF:1.0,\n${to}`),
  "hls-key": playlist((to) => `#EXT-X-KEY:METHOD=AES-128,URI="${to}"\n${SEGMENT}`),
  // The segment is on this site and redirects to the URL. Only a client that follows redirects
  // reaches the URL.
  "hls-segment-redirect": playlist((to) => {
    return `${SEGMENT}\n#EXTINF:1.0,\n/toward/redirect.ts?to=${encodeURIComponent(to)}`
  }),
  "hls-key-redirect": playlist((to) => {
    return `#EXT-X-KEY:METHOD=AES-128,URI="/toward/redirect.bin?to=${encodeURIComponent(to)}"\n${SEGMENT}`
  }),
  "hls-nested": hls((to) => {
    return `${STREAM}\n/toward/hls-segment.m3u8?to=${encodeURIComponent(to)}`
  }),
  "hls-audio": hls((to) => {
    const sound = `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="English",DEFAULT=YES,URI="${to}"`
    return `${sound}\n${STREAM},AUDIO="sound"\n/media/hls/360p/index.m3u8`
  }),
  "hls-subtitles": hls((to) => {
    const words = `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="words",NAME="English",LANGUAGE="en",URI="${to}"`
    return `${words}\n${STREAM},SUBTITLES="words"\n/media/hls/360p/index.m3u8`
  }),
}

function playlist(write: (to: string) => string): LinkingBody {
  return hls((to) => {
    const head = "#EXT-X-TARGETDURATION:1\n#EXT-X-PLAYLIST-TYPE:VOD"
    return `${head}\n${write(to)}\n#EXT-X-ENDLIST`
  })
}

function hls(write: (to: string) => string): LinkingBody {
  return {
    type: "application/vnd.apple.mpegurl",
    write: (to) => `#EXTM3U\n#EXT-X-VERSION:5\n${write(to)}\n`,
  }
}
