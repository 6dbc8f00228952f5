import { buildAliasMap } from "../../../hints/hint-table.ts"
import { makeDidYouMeanClause, findNearestName } from "../../../hints/nearest-name.ts"

const ENCODERS = buildAliasMap([
  ["x264 avc openh264 libopenh264 quicktime mp4 mov mkv hls mpegts matroska", "libx264"],
  ["x265 h265 h.265", "libx265"],
  ["vp8x libvpx-vp8", "libvpx"],
  ["libvp9 webm", "libvpx-vp9"],
  ["svtav1", "libsvtav1"],
  ["lame mp3lame libmp3", "libmp3lame"],
  ["he-aac he_aac aac_he mp4a libfdk_aac libfaac libvo_aacenc m4a", "aac"],
  ["wav pcm pcm16", "pcm_s16le"],
  ["jpeg jpg", "mjpeg"],
  ["webp", "libwebp"],
  ["divx xvid avi", "mpeg4"],
  ["wmv", "wmv2"],
  ["wma", "wmav2"],
  ["ogg", "libvorbis"],
  ["cpoy coppy stream_copy", "copy"],
])
const DECODERS = buildAliasMap([
  ["h265 h.265 x265", "hevc"],
  ["x264 avc", "h264"],
])
const FORMATS = buildAliasMap([
  ["mkv mka", "matroska"],
  ["aac", "adts"],
  ["m4a", "ipod"],
  ["m4v mpeg4 mpeg-4 video", "mp4"],
  ["mpeg", "mpeg"],
  ["ts m2ts", "mpegts"],
  ["m3u8", "hls"],
  ["mpd", "dash"],
  ["h265 x265", "hevc"],
  ["x264", "h264"],
  ["quicktime", "mov"],
  ["wmv wma", "asf"],
  ["3gpp", "3gp"],
  ["vorbis", "ogg"],
  ["audio", "mp3"],
  ["jpg jpeg png", "image2"],
  ["vtt", "webvtt"],
])
const FILTERS = buildAliasMap([
  ["resize size resolution", "scale"],
  ["gray grayscale greyscale bw blackwhite", "hue=s=0"],
  ["blur", "gblur"],
  ["brightness", "eq=brightness=0.1"],
  ["contrast", "eq=contrast=1.2"],
  ["saturation", "eq=saturation=1.5"],
  ["fadein", "fade=t=in"],
  ["fadeout", "fade=t=out"],
  ["afadein", "afade=t=in"],
  ["afadeout", "afade=t=out"],
  ["rotate90", "transpose=1"],
  ["flip", "vflip"],
  ["mirror", "hflip"],
  ["speed speedup", "setpts=PTS/2"],
  ["slow slowmo slowmotion", "setpts=2*PTS"],
  ["watermark logo", "overlay"],
  ["text", "drawtext"],
  ["subtitle", "subtitles"],
  ["denoise", "hqdn3d"],
  ["deinterlace", "yadif"],
  ["sepia", "colorchannelmixer=.393:.769:.189:0:.349:.686:.168:0:.272:.534:.131"],
  ["sharpen", "unsharp"],
  ["stabilize", "deshake"],
  ["tempo", "atempo"],
  ["gain", "volume"],
  ["mono", "pan=mono|c0=FL"],
  ["reverb", "aecho"],
  ["pitch", "asetrate=48000*1.5,aresample=48000,atempo=1/1.5"],
  ["bassboost", "bass=g=10"],
  ["normalise loudness", "loudnorm"],
  ["compress compressor", "acompressor"],
  ["zoom", "zoompan"],
  ["invert", "negate"],
  ["border padding letterbox", "pad"],
  ["cut", "trim"],
  ["greenscreen", "chromakey"],
  ["transparent", "colorkey"],
  ["opacity", "colorchannelmixer=aa=0.5"],
  ["crossfade", "xfade"],
  ["removesilence", "silenceremove"],
  ["ducking", "sidechaincompress"],
  ["mix", "amix"],
  ["merge", "amerge"],
  ["framerate rate", "fps"],
])

/** Corrections of common wrong names of filter options, by filter and wrong name. */
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

/**
 * Returns the correction of a common wrong name of a filter's option; null if the name is not a
 * common mistake.
 */
export function suggestFilterOption(filter: string, name: string): string | null {
  const key = `${filter} ${name.toLowerCase()}`
  return Object.hasOwn(FILTER_OPTIONS, key) ? (FILTER_OPTIONS[key] ?? null) : null
}

/** Corrections of common wrong names of audio filters. */
const SOUND_FILTERS = new Map([
  ...FILTERS,
  ...buildAliasMap([
    ["speed speedup", "atempo=2"],
    ["slow slowmo", "atempo=0.5"],
    ["denoise noisereduce", "afftdn"],
    ["fade", "afade"],
    ["fadein", "afade=t=in"],
    ["fadeout", "afade=t=out"],
    ["stereo", "aformat=channel_layouts=stereo"],
    ["cut", "atrim"],
    ["reverse", "areverse"],
    ["crossfade", "acrossfade"],
    ["rate", "aresample"],
  ]),
])

const TABLES = {
  encoders: ENCODERS,
  decoders: DECODERS,
  formats: FORMATS,
  filters: FILTERS,
  soundFilters: SOUND_FILTERS,
}

/**
 * Returns `; did you mean X?` for an unknown name. X comes from the table of common wrong names, or
 * is the nearest known name.
 */
export function suggestComponentName(
  kind: keyof typeof TABLES,
  word: string,
  names: Iterable<string>,
): string {
  const table = TABLES[kind]
  const key = word.toLowerCase()
  const replacement = table.get(key)
  if (replacement !== undefined) return `; did you mean \`${replacement}\`?`
  const isFormat = kind === "decoders" && CONTAINER.test(key)
  return isFormat
    ? ", because this is a file format; leave it out"
    : makeDidYouMeanClause(word, names)
}

/**
 * Audio encoders to suggest if a command names a container format, such as mp4, as its audio
 * encoder.
 */
const SOUND_ENCODERS: Record<string, string> = {
  mp4: "aac",
  mov: "aac",
  mkv: "aac",
  avi: "libmp3lame",
  webm: "libopus",
}
const CONTAINER = /^(?:mp4|mov|mkv|avi|webm|m4a|ogg|hls|mpegts|matroska|quicktime)$/
const OFF: Record<string, string> = { V: "-vn", A: "-an", S: "-sn" }

/** Returns `; did you mean X?` or another remedy for an unknown encoder. */
export function suggestEncoder(
  word: string,
  medium: string | null,
  names: Iterable<string>,
): string {
  const plain = word.toLowerCase()
  if (/^(?:none|no|off|null|disable|false|0)$/.test(plain)) {
    return medium === null ? "; leave it out" : `; write \`${OFF[medium] ?? "-vn"}\` instead`
  }
  if (/^(?:auto|default|any|same)$/.test(plain)) return "; leave it out, or write `copy`"
  const isContainer = CONTAINER.test(plain)
  if (isContainer && medium === null) return ", because this is a file format; leave it out"
  const audioEncoder = medium === "A" && isContainer ? SOUND_ENCODERS[plain] : undefined
  const suggestion =
    audioEncoder === undefined
      ? suggestComponentName("encoders", word, names)
      : `; did you mean \`${audioEncoder}\`?`
  return isContainer ? `, because this is a file format${suggestion}` : suggestion
}

/** Common file extensions. A suggestion prefers them to all other extensions. */
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

/**
 * Returns `; did you mean X?` for a file extension that belongs to no format; an empty text if no
 * extension is near.
 */
export function suggestExtension(extension: string, extensions: Iterable<string>): string {
  const key = extension.toLowerCase()
  const replacement = Object.hasOwn(OTHER_EXTENSIONS, key) ? OTHER_EXTENSIONS[key] : undefined
  const suggestion =
    replacement ??
    findNearestName(extension, EXTENSIONS.split(" ")) ??
    findNearestName(extension, extensions)
  return suggestion === null ? "" : `; did you mean \`.${suggestion}\`?`
}
