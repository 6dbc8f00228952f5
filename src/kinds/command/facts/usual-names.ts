import { didYouMean, nearestName } from "../../../suggest.ts"

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
  mp3lame: "libmp3lame",
  "he-aac": "aac",
  he_aac: "aac",
  aac_he: "aac",
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
  openh264: "libx264",
  libopenh264: "libx264",
  divx: "mpeg4",
  xvid: "mpeg4",
  wmv: "wmv2",
  wma: "wmav2",
  quicktime: "libx264",
  mp4: "libx264",
  mov: "libx264",
  mkv: "libx264",
  avi: "mpeg4",
  webm: "libvpx-vp9",
  m4a: "aac",
  ogg: "libvorbis",
  hls: "libx264",
  mpegts: "libx264",
  matroska: "libx264",
  cpoy: "copy",
  coppy: "copy",
  stream_copy: "copy",
}
const DECODERS: Record<string, string> = {
  h265: "hevc",
  "h.265": "hevc",
  x265: "hevc",
  x264: "h264",
  avc: "h264",
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
  h265: "hevc",
  x265: "hevc",
  x264: "h264",
  "mpeg-4": "mp4",
  quicktime: "mov",
  wmv: "asf",
  wma: "asf",
  m2ts: "mpegts",
  "3gpp": "3gp",
  vorbis: "ogg",
  video: "mp4",
  audio: "mp3",
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
  deinterlace: "yadif",
  sepia: "colorchannelmixer=.393:.769:.189:0:.349:.686:.168:0:.272:.534:.131",
  bw: "hue=s=0",
  blackwhite: "hue=s=0",
  sharpen: "unsharp",
  stabilize: "deshake",
  tempo: "atempo",
  gain: "volume",
  mono: "pan=mono|c0=FL",
  size: "scale",
  resolution: "scale",
  reverb: "aecho",
  pitch: "asetrate=48000*1.5,aresample=48000,atempo=1/1.5",
  bassboost: "bass=g=10",
  normalise: "loudnorm",
  loudness: "loudnorm",
  compress: "acompressor",
  compressor: "acompressor",
  zoom: "zoompan",
  invert: "negate",
  border: "pad",
  padding: "pad",
  letterbox: "pad",
  cut: "trim",
  slowmo: "setpts=2*PTS",
  slowmotion: "setpts=2*PTS",
  speedup: "setpts=PTS/2",
  logo: "overlay",
  greenscreen: "chromakey",
  transparent: "colorkey",
  opacity: "colorchannelmixer=aa=0.5",
  crossfade: "xfade",
  removesilence: "silenceremove",
  ducking: "sidechaincompress",
  mix: "amix",
  merge: "amerge",
  framerate: "fps",
  rate: "fps",
}

/** What people call options of filters, by filter and name, and how they are written. */
const FILTER_OPTIONS: Record<string, string> = {
  "drawtext size": "fontsize",
  "drawtext font_size": "fontsize",
  "drawtext color": "fontcolor",
  "drawtext colour": "fontcolor",
  "drawtext font_color": "fontcolor",
  "drawtext position": "x=10:y=10",
  "drawtext background": "box=1:boxcolor=black@0.5",
  "subtitles fontsize": "force_style='FontSize=24'",
  "subtitles size": "force_style='FontSize=24'",
  "subtitles font": "force_style='FontName=DejaVu Sans'",
  "subtitles fontname": "force_style='FontName=DejaVu Sans'",
  "subtitles color": "force_style='PrimaryColour=&H00FFFF&'",
  "subtitles fontcolor": "force_style='PrimaryColour=&H00FFFF&'",
  "overlay position": "x=10:y=10",
  "volume gain": "volume",
  "volume level": "volume",
}

/** What an option of a filter is called, of one that people say; null where nothing is known. */
export function usualFilterOption(filter: string, name: string): string | null {
  const key = `${filter} ${name.toLowerCase()}`
  return Object.hasOwn(FILTER_OPTIONS, key) ? (FILTER_OPTIONS[key] ?? null) : null
}

/** The same of filters for sound. */
const SOUND_FILTERS: Record<string, string> = {
  ...FILTERS,
  speed: "atempo=2",
  slow: "atempo=0.5",
  speedup: "atempo=2",
  slowmo: "atempo=0.5",
  denoise: "afftdn",
  noisereduce: "afftdn",
  fade: "afade",
  fadein: "afade=t=in",
  fadeout: "afade=t=out",
  stereo: "aformat=channel_layouts=stereo",
  cut: "atrim",
  reverse: "areverse",
  crossfade: "acrossfade",
  rate: "aresample",
}

const TABLES = {
  encoders: ENCODERS,
  decoders: DECODERS,
  formats: FORMATS,
  filters: FILTERS,
  soundFilters: SOUND_FILTERS,
}

/** `; did you mean X?` of a name that there is not: by what people say, else by the nearest one. */
export function meant(kind: keyof typeof TABLES, word: string, names: Iterable<string>): string {
  const table = TABLES[kind]
  const key = word.toLowerCase()
  const usual = Object.hasOwn(table, key) ? table[key] : undefined
  if (usual !== undefined) return `; did you mean \`${usual}\`?`
  const isFormat = kind === "decoders" && CONTAINER.test(key)
  return isFormat ? ", since this is a format of files; leave it out" : didYouMean(word, names)
}

/** Encoders of sound by the containers that people name in their place. */
const SOUND_ENCODERS: Record<string, string> = {
  mp4: "aac",
  mov: "aac",
  mkv: "aac",
  avi: "libmp3lame",
  webm: "libopus",
}
const CONTAINER = /^(?:mp4|mov|mkv|avi|webm|m4a|ogg|hls|mpegts|matroska|quicktime)$/
const OFF: Record<string, string> = { V: "-vn", A: "-an", S: "-sn" }

/** `; did you mean X?`, or what to do instead, of an encoder that there is not. */
export function meantEncoder(word: string, medium: string | null, names: Iterable<string>): string {
  const plain = word.toLowerCase()
  if (/^(?:none|no|off|null|disable|false|0)$/.test(plain)) {
    return medium === null ? "; leave it out" : `; write \`${OFF[medium] ?? "-vn"}\` instead`
  }
  if (/^(?:auto|default|any|same)$/.test(plain)) return "; leave it out, or write `copy`"
  const isContainer = CONTAINER.test(plain)
  if (isContainer && medium === null) return ", since this is a format of files; leave it out"
  const sound = medium === "A" && isContainer ? SOUND_ENCODERS[plain] : undefined
  const usual =
    sound === undefined ? meant("encoders", word, names) : `; did you mean \`${sound}\`?`
  return isContainer ? `, since this is a format of files${usual}` : usual
}

/** Extensions that people mean, before all others that there are. */
const EXTENSIONS =
  "mp4 mov mkv webm avi mpg ts m4v flv mp3 m4a aac wav flac ogg opus gif png jpg webp avif srt vtt ass m3u8 mpd"
const OTHER_EXTENSIONS: Record<string, string> = {
  heic: "avif",
  heif: "avif",
  svg: "png",
  mpeg4: "mp4",
  mp4a: "m4a",
  divx: "avi",
  xvid: "avi",
  m4r: "m4a",
  jpge: "jpg",
  txt: "srt",
  hls: "m3u8",
}

/** `; did you mean X?` of an extension that no format has. */
export function meantExtension(extension: string, known: Iterable<string>): string {
  const key = extension.toLowerCase()
  const usual = Object.hasOwn(OTHER_EXTENSIONS, key) ? OTHER_EXTENSIONS[key] : undefined
  const near =
    usual ?? nearestName(extension, EXTENSIONS.split(" ")) ?? nearestName(extension, known)
  return near === null ? "" : `; did you mean \`.${near}\`?`
}
