const CLIP_SECONDS = 6

type Recipe = {
  /** Path of the resulting file in the media folder. */
  to: string
  words: string
}

const HLS = "-f hls -hls_time 1 -hls_playlist_type vod"
const X264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 10"
const HEIGHTS = [360, 720, 1080]

/** Arguments of ffmpeg for each media file, in order. Later files use earlier files. */
export const MEDIA_RECIPES: Recipe[] = [
  ...HEIGHTS.map((height) => ({ to: `${height}p.mp4`, words: videoWords(height) })),
  { to: "clip.mp4", words: "-i 360p.mp4 -c copy -movflags +faststart" },
  { to: "tail.mp4", words: "-i 360p.mp4 -c copy" },
  { to: "clip.m4a", words: "-i clip.mp4 -vn -c copy" },
  { to: "clip.mp3", words: "-i clip.mp4 -vn -c:a libmp3lame" },
  { to: "clip.wav", words: "-i clip.mp4 -vn" },
  { to: "clip.ogg", words: "-i clip.mp4 -vn -c:a libopus" },
  { to: "picture.png", words: "-i clip.mp4 -frames:v 1" },
  {
    to: "clip.webm",
    words: "-i clip.mp4 -vf scale=160:90 -c:v libvpx -deadline realtime -cpu-used 8 -c:a libopus",
  },
  ...HEIGHTS.map((height) => hls(`${height}p`, `-i ${height}p.mp4 -c copy`)),
  hls("video", "-i 360p.mp4 -an -c copy"),
  hls("audio", "-i 360p.mp4 -vn -c copy"),
  hls("aes", "-i 360p.mp4 -c copy", "-hls_key_info_file hls/key-info.txt"),
  {
    to: "hls/fmp4/index.m3u8",
    words: `-i 360p.mp4 -c copy ${HLS} -hls_segment_type fmp4`,
  },
  {
    to: "dash/manifest.mpd",
    words: "-i 360p.mp4 -i 720p.mp4 -map 0:v -map 1:v -map 0:a -c copy -f dash -seg_duration 1",
  },
]

/** Contents of text files in the media folder, by path. */
export const TEXT_FILES: Record<string, string> = {
  "captions.vtt":
    "WEBVTT\n\n00:00.000 --> 00:02.000\nHello.\n\n00:02.000 --> 00:05.000\nGoodbye.\n",
  "captions.srt":
    "1\n00:00:00,000 --> 00:00:02,000\nHello.\n\n2\n00:00:02,000 --> 00:00:05,000\nGoodbye.\n",
  "hls/aes/key.bin": "0123456789abcdef",
  "hls/key-info.txt": "key.bin\nhls/aes/key.bin\n",
  "hls/master.m3u8": masterPlaylist(),
  "hls/groups.m3u8": groupsPlaylist(),
  "hls/subtitles.m3u8":
    `#EXTM3U\n#EXT-X-TARGETDURATION:${CLIP_SECONDS}\n#EXT-X-PLAYLIST-TYPE:VOD\n` +
    `#EXTINF:${CLIP_SECONDS}.0,\n../captions.vtt\n#EXT-X-ENDLIST\n`,
  "hls/drm.m3u8":
    "#EXTM3U\n#EXT-X-VERSION:5\n#EXT-X-TARGETDURATION:1\n#EXT-X-PLAYLIST-TYPE:VOD\n" +
    '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key",KEYFORMAT="com.apple.streamingkeydelivery",' +
    'KEYFORMATVERSIONS="1"\n#EXTINF:1.0,\n360p/index0.ts\n#EXT-X-ENDLIST\n',
  "dash/drm.mpd": drmManifest(),
}

function videoWords(height: number): string {
  const width = (height * 16) / 9
  const sources = `-f lavfi -i testsrc=size=${width}x${height}:rate=10 -f lavfi -i sine=frequency=440`
  return `${sources} -t ${CLIP_SECONDS} ${X264} -c:a aac`
}

function hls(name: string, source: string, more = ""): Recipe {
  return {
    to: `hls/${name}/index.m3u8`,
    words: [source, HLS, ...(more === "" ? [] : [more])].join(" "),
  }
}

function masterPlaylist(): string {
  const variants = HEIGHTS.map((height) => {
    const facts = `BANDWIDTH=${height * 1000},RESOLUTION=${(height * 16) / 9}x${height}`
    return `#EXT-X-STREAM-INF:${facts},CODECS="avc1.42c01f,mp4a.40.2"\n${height}p/index.m3u8`
  })
  return `#EXTM3U\n#EXT-X-VERSION:3\n${variants.join("\n")}\n`
}

function groupsPlaylist(): string {
  return [
    "#EXTM3U",
    "#EXT-X-VERSION:4",
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="English",LANGUAGE="en",DEFAULT=YES,' +
      'AUTOSELECT=YES,URI="audio/index.m3u8"',
    '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="words",NAME="English",LANGUAGE="en",DEFAULT=NO,' +
      'AUTOSELECT=YES,URI="subtitles.m3u8"',
    "#EXT-X-STREAM-INF:BANDWIDTH=360000,RESOLUTION=640x360," +
      'CODECS="avc1.42c01f,mp4a.40.2",AUDIO="sound",SUBTITLES="words"',
    "video/index.m3u8",
    "",
  ].join("\n")
}

function drmManifest(): string {
  return [
    '<?xml version="1.0"?>',
    '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT6S"',
    ' profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period>',
    '<AdaptationSet contentType="video" mimeType="video/mp4">',
    '<ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cenc"/>',
    '<ContentProtection schemeIdUri="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"/>',
    '<Representation id="1" codecs="avc1.42c01f" width="640" height="360" bandwidth="360000">',
    "<BaseURL>../clip.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>",
    "",
  ].join("\n")
}
