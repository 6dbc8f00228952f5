import type { ProbeResult } from "../../../src/contract/probe.ts"

/** Extensions that media files have. */
const EXTENSIONS = new Set(
  (
    "3g2 3gp aac ac3 aif aiff amr ape asf avi caf divx f4v flac flv m2ts m4a m4b m4v mk3d mka mkv mov " +
    "mp3 mp4 mpeg mpg mts mxf oga ogg ogv opus ts vob wav weba webm wma wmv"
  ).split(" "),
)

/** Demuxers of pictures that do not move. */
const PICTURES = /_pipe$|^(?:image2|gif|apng|ico)(?:,|$)/

/** The extension of files of a format, where their own says nothing: without picture, and with. */
const BY_FORMAT: Record<string, [sound: string, picture: string]> = {
  mov: ["m4a", "mp4"],
  matroska: ["mka", "mkv"],
  mpegts: ["ts", "ts"],
  ogg: ["ogg", "ogv"],
  asf: ["wma", "wmv"],
  mpeg: ["mpg", "mpg"],
}

/** The extension that a media file is to have; null where it is no film and no sound. */
export function mediaExtension(fileName: string, probe: ProbeResult): string | null {
  const types = probe.streams.map(({ codec_type: type }) => type)
  if (PICTURES.test(probe.format_name)) return null
  const hasPicture = types.includes("video")
  if (!hasPicture && !types.includes("audio")) return null
  const own = /\.([A-Za-z0-9]+)$/.exec(fileName)?.[1]?.toLowerCase()
  if (own !== undefined && EXTENSIONS.has(own)) return own
  const [format = ""] = probe.format_name.split(",")
  const byFormat = BY_FORMAT[format]?.[hasPicture ? 1 : 0]
  if (byFormat !== undefined || EXTENSIONS.has(format)) return byFormat ?? format
  return hasPicture ? "mkv" : "mka"
}
