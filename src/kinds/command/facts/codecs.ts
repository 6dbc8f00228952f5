import { findLastOptionValue } from "../../../ffmpeg/command-line.ts"
import type { CommandFile, CommandOption } from "../../../ffmpeg/command-line.ts"
import { getComponentMetaValues } from "./capabilities.ts"
import type { FfmpegCapabilities, FfmpegComponent } from "./capabilities.ts"

/** Medium of a stream: video (`V`), audio (`A`) or subtitles (`S`). */
export type StreamType = "V" | "A" | "S"

/** Names of media, as error messages show them. */
export const STREAM_TYPE_NAMES: Record<StreamType, string> = {
  V: "video",
  A: "audio",
  S: "subtitles",
}

/** Encoders that ffmpeg uses for a codec by default, if the build has them. */
const DEFAULT_ENCODERS: Record<string, string> = {
  h264: "libx264",
  hevc: "libx265",
  vp8: "libvpx",
  vp9: "libvpx-vp9",
  mp3: "libmp3lame",
  vorbis: "libvorbis",
  opus: "libopus",
  theora: "libtheora",
}

/**
 * Options that choose a codec, with the medium that the option's name implies. The medium is null
 * if the option applies to any medium.
 */
const MEDIA_OF = new Map<string, StreamType | null>([
  ["c", null],
  ["codec", null],
  ["vcodec", "V"],
  ["acodec", "A"],
  ["scodec", "S"],
])

const codecs = new WeakMap<
  FfmpegCapabilities,
  Partial<Record<"decodable" | "encodable", Map<string, string>>>
>()

/**
 * Returns the codecs that the ffmpeg build can decode or encode, as a map from the name of a codec
 * to the letter of its medium.
 */
export function listCodecs(
  capabilities: FfmpegCapabilities,
  list: "decodable" | "encodable",
): ReadonlyMap<string, string> {
  const lists = codecs.get(capabilities) ?? {}
  codecs.set(capabilities, lists)
  return (lists[list] ??= new Map(
    [...capabilities.names(list)].map((each) => {
      const [name = "", media = ""] = each.split(":")
      return [name, media] as const
    }),
  ))
}

/**
 * Returns the medium to which an option applies, such as `V` for `-c:v:0`; null if the option names
 * no medium.
 */
export function findOptionStreamType({ word, name }: CommandOption): StreamType | null {
  const own = MEDIA_OF.get(name)
  if (own) return own
  const [, letter = ""] = /^-\w+:([vVas])(?::|$)/.exec(word) ?? []
  return MEDIA.get(letter.toLowerCase()) ?? null
}

const MEDIA = new Map<string, StreamType>([
  ["v", "V"],
  ["a", "A"],
  ["s", "S"],
])

/** Reports whether an option with this name chooses a codec. */
export function isCodecOption(name: string): boolean {
  return MEDIA_OF.has(name)
}

/**
 * Formats and encoders of a file, cached because the check of every option needs them and each
 * lookup scans all options.
 */
type FileLookups = {
  capabilities: FfmpegCapabilities
  muxers?: FfmpegComponent[] | null
  encoders: Partial<Record<StreamType, string | null>>
}
const lookups = new WeakMap<CommandFile, FileLookups>()

function getFileLookups(file: CommandFile, capabilities: FfmpegCapabilities): FileLookups {
  const cached = lookups.get(file)
  if (cached?.capabilities === capabilities) return cached
  const fresh: FileLookups = { capabilities, encoders: {} }
  lookups.set(file, fresh)
  return fresh
}

/**
 * Returns the formats that an output may have, from its -f option or its extension; null if the
 * format is unknown.
 */
export function findOutputMuxers(
  file: CommandFile,
  capabilities: FfmpegCapabilities,
): FfmpegComponent[] | null {
  const cached = getFileLookups(file, capabilities)
  if (cached.muxers === undefined) cached.muxers = lookUpMuxers(file, capabilities)
  return cached.muxers
}

function lookUpMuxers(
  file: CommandFile,
  capabilities: FfmpegCapabilities,
): FfmpegComponent[] | null {
  const format = findLastOptionValue(file, "f")?.toLowerCase()
  if (format !== undefined) {
    const entry = capabilities.find("muxers", format)
    return entry && [entry]
  }
  const extension = /\.([^.]+)$/.exec(file.word)?.[1]?.toLowerCase()
  if (extension === undefined) return null
  const own = capabilities.find("muxers", DEFAULT_MUXERS[extension] ?? extension)
  if (
    own &&
    (DEFAULT_MUXERS[extension] !== undefined ||
      getComponentMetaValues(own, "x").includes(extension))
  ) {
    return [own]
  }
  const found = [...capabilities.names("muxers")].flatMap((name) => {
    const entry = capabilities.find("muxers", name)
    return entry && getComponentMetaValues(entry, "x").includes(extension) ? [entry] : []
  })
  return found.length > 0 ? found : null
}

/** Formats that ffmpeg uses by default for extensions that belong to several formats. */
const DEFAULT_MUXERS: Record<string, string> = {
  m4a: "ipod",
  m4v: "ipod",
  mka: "matroska",
  mpg: "mpeg",
  ts: "mpegts",
  vob: "vob",
}

/**
 * Returns the encoder of an output's streams of one medium: the encoder that the command names, or
 * the default of the output's format. Returns null if the encoder is unknown.
 */
export function findEncoder(
  file: CommandFile,
  medium: StreamType,
  capabilities: FfmpegCapabilities,
): string | null {
  const { encoders } = getFileLookups(file, capabilities)
  const cached = encoders[medium]
  if (cached !== undefined) return cached
  const encoder = lookUpEncoder(file, medium, capabilities)
  encoders[medium] = encoder
  return encoder
}

function lookUpEncoder(
  file: CommandFile,
  medium: StreamType,
  capabilities: FfmpegCapabilities,
): string | null {
  const codecOptions = file.options.filter((option) => {
    return isCodecOption(option.name) && [null, medium].includes(findOptionStreamType(option))
  })
  // Options such as -c:v:0 and -c:v:1 may choose different codecs. No single encoder then applies
  // to the medium.
  if (new Set(codecOptions.map(({ value }) => value)).size > 1) return null
  const codec = codecOptions.at(-1)?.value ?? defaultCodec(file, medium, capabilities)
  if (codec === null || capabilities.names("encoders").has(codec)) return codec
  const first = DEFAULT_ENCODERS[codec]
  if (first !== undefined && capabilities.names("encoders").has(first)) return first
  return codec === "copy" ? codec : null
}

function defaultCodec(
  file: CommandFile,
  medium: StreamType,
  capabilities: FfmpegCapabilities,
): string | null {
  const [muxer, ...others] = findOutputMuxers(file, capabilities) ?? []
  if (!muxer || others.length > 0) return null
  return getComponentMetaValues(muxer, medium.toLowerCase())[0] ?? null
}
