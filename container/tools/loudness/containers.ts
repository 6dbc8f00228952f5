import type { Source } from "./source.ts"

/** A format of files: how it is recognized, written, and what it holds beside sound. */
export type Container = {
  /** The name by which ffmpeg reads it. */
  name: string
  /** The name by which ffmpeg writes it, where that is another. */
  muxer?: string
  /** ffmpeg's name of its demuxer, the first one where there are several. */
  demuxer: string
  /** Ends of names; the first one is the usual one. */
  extensions: readonly string[]
  /** Codecs of sound that it cannot hold, although it was read from such a file. */
  refuses?: RegExp
  /** Codecs for sound that it has to be converted to, best first. */
  lossless: readonly string[]
  lossy: readonly string[]
  holds: {
    video: boolean
    /** How it keeps pictures of covers; null where it has none. */
    covers: "stream" | "comment" | "attachment" | null
    /** Codecs of subtitles, and tags of data, that are copied. */
    subtitles?: RegExp
    /** Codecs of subtitles that are kept as another one. */
    converted?: Readonly<Record<string, string>>
    data?: RegExp
    attachments?: boolean
  }
  arguments?: readonly string[]
}

const SOUND_ONLY = { video: false, covers: null }
const TAGGED = { video: false, covers: "stream" as const }
const FILM = { video: true, covers: null }
const MOVIE = {
  demuxer: "mov",
  holds: { video: true, covers: "stream" as const, subtitles: /^mov_text$/ },
}
const PCM = ["pcm_s16le"]
const MATROSKA = {
  demuxer: "matroska",
  arguments: ["-default_mode", "passthrough"],
}

const CONTAINERS: readonly Container[] = [
  {
    ...MOVIE,
    name: "mp4",
    extensions: ["mp4", "m4v"],
    refuses: /^pcm_/,
    lossless: ["alac"],
    lossy: ["aac"],
  },
  {
    ...MOVIE,
    name: "m4a",
    muxer: "ipod",
    extensions: ["m4a", "m4b", "m4r"],
    refuses: /^(?!aac$|alac$|ac3$)/,
    lossless: ["alac"],
    lossy: ["aac"],
  },
  {
    ...MOVIE,
    name: "mov",
    extensions: ["mov", "qt"],
    lossless: ["alac", "pcm_s24le"],
    lossy: ["aac"],
  },
  {
    ...MOVIE,
    name: "3gp",
    extensions: ["3gp"],
    refuses: /^(?!aac$)/,
    lossless: ["aac"],
    lossy: ["aac"],
  },
  {
    ...MOVIE,
    name: "3g2",
    extensions: ["3g2"],
    refuses: /^(?!aac$)/,
    lossless: ["aac"],
    lossy: ["aac"],
  },
  {
    ...MATROSKA,
    name: "matroska",
    extensions: ["mkv", "mka", "mk3d"],
    lossless: ["flac", "pcm_s16le"],
    lossy: ["eac3", "opus", "pcm_s16le"],
    holds: {
      video: true,
      covers: "attachment",
      subtitles: /^(?:subrip|ass|ssa|webvtt|hdmv_pgs_subtitle|dvd_subtitle|dvb_subtitle|text)$/,
      converted: { mov_text: "subrip" },
      attachments: true,
    },
  },
  {
    ...MATROSKA,
    name: "webm",
    extensions: ["webm"],
    refuses: /^(?!opus$|vorbis$)/,
    lossless: ["opus"],
    lossy: ["opus"],
    holds: { video: true, covers: null, subtitles: /^webvtt$/ },
  },
  {
    name: "wav",
    demuxer: "wav",
    extensions: ["wav", "wave", "rf64", "bwf"],
    lossless: PCM,
    lossy: PCM,
    holds: SOUND_ONLY,
    arguments: ["-rf64", "auto"],
  },
  {
    name: "w64",
    demuxer: "w64",
    extensions: ["w64"],
    lossless: PCM,
    lossy: PCM,
    holds: SOUND_ONLY,
  },
  {
    name: "flac",
    demuxer: "flac",
    extensions: ["flac"],
    lossless: ["flac"],
    lossy: ["flac"],
    holds: TAGGED,
  },
  {
    name: "ogg",
    demuxer: "ogg",
    extensions: ["ogg", "oga", "opus", "ogv", "spx"],
    lossless: ["flac"],
    lossy: ["opus"],
    holds: { video: true, covers: "comment" },
  },
  {
    name: "mp3",
    demuxer: "mp3",
    extensions: ["mp3"],
    refuses: /^(?!mp3$)/,
    lossless: [],
    lossy: ["mp3"],
    holds: TAGGED,
  },
  {
    name: "mp2",
    demuxer: "mp3",
    extensions: ["mp2", "mpa"],
    lossless: [],
    lossy: ["mp2"],
    holds: SOUND_ONLY,
  },
  {
    name: "aac",
    muxer: "adts",
    demuxer: "aac",
    extensions: ["aac", "adts"],
    lossless: [],
    lossy: ["aac"],
    holds: SOUND_ONLY,
  },
  { name: "ac3", demuxer: "ac3", extensions: ["ac3"], lossless: [], lossy: [], holds: SOUND_ONLY },
  {
    name: "eac3",
    demuxer: "eac3",
    extensions: ["eac3", "ec3"],
    lossless: [],
    lossy: ["eac3"],
    holds: SOUND_ONLY,
  },
  {
    name: "aiff",
    demuxer: "aiff",
    extensions: ["aiff", "aif", "aifc"],
    lossless: ["pcm_s16be"],
    lossy: ["pcm_s16be"],
    holds: TAGGED,
    arguments: ["-write_id3v2", "1"],
  },
  {
    name: "caf",
    demuxer: "caf",
    extensions: ["caf"],
    refuses: /^(?:aac|mp3|opus)$/,
    lossless: ["alac"],
    lossy: ["alac"],
    holds: SOUND_ONLY,
  },
  {
    name: "au",
    demuxer: "au",
    extensions: ["au", "snd"],
    lossless: ["pcm_s16be"],
    lossy: ["pcm_s16be"],
    holds: SOUND_ONLY,
  },
  { name: "wv", demuxer: "wv", extensions: ["wv"], lossless: [], lossy: [], holds: SOUND_ONLY },
  { name: "tta", demuxer: "tta", extensions: ["tta"], lossless: [], lossy: [], holds: SOUND_ONLY },
  {
    name: "mpegts",
    demuxer: "mpegts",
    extensions: ["ts", "m2ts", "mts", "m2t"],
    lossless: ["ac3"],
    lossy: ["ac3"],
    holds: { ...FILM, subtitles: /^dvb_/, data: /^KLVA$|^ID3 $/ },
  },
  {
    name: "mpeg",
    muxer: "vob",
    demuxer: "mpeg",
    extensions: ["mpg", "mpeg", "vob", "m2p"],
    lossless: ["ac3"],
    lossy: ["ac3"],
    holds: { ...FILM, subtitles: /^dvd_subtitle$/ },
  },
  { name: "avi", demuxer: "avi", extensions: ["avi"], lossless: PCM, lossy: ["ac3"], holds: FILM },
  {
    name: "flv",
    demuxer: "flv",
    extensions: ["flv", "f4v"],
    lossless: ["aac"],
    lossy: ["aac"],
    holds: FILM,
  },
  {
    name: "asf",
    demuxer: "asf",
    extensions: ["wma", "wmv", "asf"],
    lossless: ["wmav2"],
    lossy: ["wmav2"],
    holds: FILM,
  },
  { name: "mxf", demuxer: "mxf", extensions: ["mxf"], lossless: PCM, lossy: PCM, holds: FILM },
]

/** The container of a source, by what it holds and by its name; null where ffmpeg writes none such. */
export function findContainer({ format, extension, tags, others }: Source): Container | null {
  const demuxer = format.split(",")[0]
  const same = CONTAINERS.filter((each) => each.demuxer === demuxer)
  const named = same.find(({ extensions }) => extensions.includes(extension))
  if (named || demuxer !== "mov") return named ?? same[0] ?? null
  const name = movieName(
    tags,
    others.some(({ type }) => type === "video"),
  )
  return same.find((each) => each.name === name) ?? null
}

function movieName(tags: Source["tags"], isFilm: boolean): string {
  if (tags["major_brand"]?.startsWith("qt") === true) return "mov"
  return isFilm ? "mp4" : "m4a"
}

/** The name of the container that a source has, also where none such can be written. */
export function containerName(source: Source): string {
  return findContainer(source)?.name ?? source.format.split(",")[0] ?? source.format
}

/** The container for a source that cannot keep its own. */
export function otherContainer(source: Source, isLossless: boolean): Container | null {
  return CONTAINERS.find(({ name }) => name === otherName(source, isLossless)) ?? null
}

function otherName({ audio, others }: Source, isLossless: boolean): string {
  if (audio.length > 1 || others.some(({ type }) => type === "video")) return "matroska"
  if (isLossless) return "flac"
  return audio[0]?.codec === "dts" ? "eac3" : "m4a"
}
