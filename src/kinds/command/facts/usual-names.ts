import { didYouMean } from "../../../suggest.ts"

/** What people call things, and what ffmpeg calls them. */
const ENCODERS: Record<string, string> = {
  x264: "libx264",
  avc: "libx264",
  x265: "libx265",
  h265: "libx265",
  "h.265": "libx265",
  vp8x: "libvpx",
  "libvpx-vp8": "libvpx",
  libvp9: "libvpx-vp9",
  svtav1: "libsvtav1",
  lame: "libmp3lame",
  libmp3: "libmp3lame",
  mp4a: "aac",
  libfdk_aac: "aac",
  libfaac: "aac",
  libvo_aacenc: "aac",
  wav: "pcm_s16le",
  pcm: "pcm_s16le",
  pcm16: "pcm_s16le",
  jpeg: "mjpeg",
  jpg: "mjpeg",
  webp: "libwebp",
  cpoy: "copy",
  coppy: "copy",
  stream_copy: "copy",
}
const FORMATS: Record<string, string> = {
  mkv: "matroska",
  mka: "matroska",
  aac: "adts",
  m4a: "ipod",
  m4v: "mp4",
  mpeg4: "mp4",
  mpeg: "mpeg",
  ts: "mpegts",
  m3u8: "hls",
  mpd: "dash",
  jpg: "image2",
  jpeg: "image2",
  png: "image2",
  vtt: "webvtt",
}
const FILTERS: Record<string, string> = {
  resize: "scale",
  gray: "hue=s=0",
  grayscale: "hue=s=0",
  greyscale: "hue=s=0",
  blur: "gblur",
  brightness: "eq=brightness=0.1",
  contrast: "eq=contrast=1.2",
  saturation: "eq=saturation=1.5",
  fadein: "fade=t=in",
  fadeout: "fade=t=out",
  afadein: "afade=t=in",
  afadeout: "afade=t=out",
  rotate90: "transpose=1",
  flip: "vflip",
  mirror: "hflip",
  speed: "setpts=PTS/2",
  slow: "setpts=2*PTS",
  watermark: "overlay",
  text: "drawtext",
  subtitle: "subtitles",
  denoise: "hqdn3d",
  sharpen: "unsharp",
  stabilize: "deshake",
  tempo: "atempo",
  gain: "volume",
  mono: "pan=mono|c0=FL",
}
const TABLES = { encoders: ENCODERS, formats: FORMATS, filters: FILTERS }

/** `; did you mean X?` of a name that there is not: by what people say, else by the nearest one. */
export function meant(kind: keyof typeof TABLES, word: string, names: Iterable<string>): string {
  const table = TABLES[kind]
  const key = word.toLowerCase()
  const usual = Object.hasOwn(table, key) ? table[key] : undefined
  return usual === undefined ? didYouMean(word, names) : `; did you mean \`${usual}\`?`
}
