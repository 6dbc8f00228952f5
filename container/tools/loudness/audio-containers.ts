import type { NormalizationSource } from "./normalization-source.ts"

/**
 * Container format with audio: the names by which ffmpeg reads and writes the format, and the other
 * streams that the format can store.
 */
export type AudioContainer = {
  /** Name of the container, which is usually the name of ffmpeg's muxer. */
  name: string
  /** Name of ffmpeg's muxer, if it differs from `name`. */
  muxer?: string
  /**
   * Name of ffmpeg's demuxer. If ffmpeg lists several comma-separated names, this is the first
   * name.
   */
  demuxer: string
  /** File extensions, the most common one first. */
  extensions: readonly string[]
  /** Matches audio codecs that ffmpeg can read from this container, but cannot write into it. */
  refuses?: RegExp
  /**
   * Codecs for audio that has to be converted, the best codec first: `lossless` for a lossless
   * source, and `lossy` for other sources.
   */
  lossless: readonly string[]
  lossy: readonly string[]
  holds: {
    video: boolean
    /**
     * Form in which the container stores cover pictures: as video streams, Ogg comments or Matroska
     * attachments. Null if the container cannot store cover pictures.
     */
    covers: "stream" | "comment" | "attachment" | null
    /**
     * Patterns for streams that are copied: `subtitles` matches codecs of subtitles, and `data`
     * matches codec tags of data streams.
     */
    subtitles?: RegExp
    /**
     * Subtitle codecs that are converted, each with the codec to which the subtitles are converted.
     */
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
const PCM_BE = ["pcm_s16be"]
const MATROSKA = {
  demuxer: "matroska",
  arguments: ["-default_mode", "passthrough"],
}

const CONTAINERS: readonly AudioContainer[] = [
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
  plain("wav", "wav wave rf64 bwf", PCM, PCM, SOUND_ONLY, { arguments: ["-rf64", "auto"] }),
  plain("w64", "w64", PCM, PCM, SOUND_ONLY),
  plain("flac", "flac", ["flac"], ["flac"], TAGGED),
  plain("ogg", "ogg oga opus ogv spx", ["flac"], ["opus"], { video: true, covers: "comment" }),
  plain("mp3", "mp3", [], ["mp3"], TAGGED, { refuses: /^(?!mp3$)/ }),
  plain("mp2", "mp2 mpa", [], ["mp2"], SOUND_ONLY, { demuxer: "mp3" }),
  plain("aac", "aac adts", [], ["aac"], SOUND_ONLY, { muxer: "adts" }),
  plain("ac3", "ac3", [], [], SOUND_ONLY),
  plain("eac3", "eac3 ec3", [], ["eac3"], SOUND_ONLY),
  plain("aiff", "aiff aif aifc", PCM_BE, PCM_BE, TAGGED, { arguments: ["-write_id3v2", "1"] }),
  plain("caf", "caf", ["alac"], ["alac"], SOUND_ONLY, { refuses: /^(?:aac|mp3|opus)$/ }),
  plain("au", "au snd", PCM_BE, PCM_BE, SOUND_ONLY),
  plain("wv", "wv", [], [], SOUND_ONLY),
  plain("tta", "tta", [], [], SOUND_ONLY),
  plain("mpegts", "ts m2ts mts m2t", ["ac3"], ["ac3"], {
    ...FILM,
    subtitles: /^dvb_/,
    data: /^KLVA$|^ID3 $/,
  }),
  plain(
    "mpeg",
    "mpg mpeg vob m2p",
    ["ac3"],
    ["ac3"],
    { ...FILM, subtitles: /^dvd_subtitle$/ },
    { muxer: "vob" },
  ),
  plain("avi", "avi", PCM, ["ac3"], FILM),
  plain("flv", "flv f4v", ["aac"], ["aac"], FILM),
  plain("asf", "wma wmv asf", ["wmav2"], ["wmav2"], FILM),
  plain("mxf", "mxf", PCM, PCM, FILM),
]

/**
 * Creates the description of a container whose muxer and demuxer have the same name. `others`
 * contains further fields, which may replace these names.
 */
function plain(
  name: string,
  extensions: string,
  lossless: readonly string[],
  lossy: readonly string[],
  holds: AudioContainer["holds"],
  others: Partial<AudioContainer> = {},
): AudioContainer {
  return {
    name,
    demuxer: name,
    extensions: extensions.split(" "),
    lossless,
    lossy,
    holds,
    ...others,
  }
}

/**
 * Returns the container of a source, by the format and the file extension of the source; null if
 * ffmpeg cannot write the container.
 */
export function findAudioContainer({
  format,
  extension,
  tags,
  others,
}: NormalizationSource): AudioContainer | null {
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

function movieName(tags: NormalizationSource["tags"], isFilm: boolean): string {
  if (tags["major_brand"]?.startsWith("qt") === true) return "mov"
  return isFilm ? "mp4" : "m4a"
}

/**
 * Returns the name of a source's container. If ffmpeg cannot write the container, the name is that
 * of ffmpeg's demuxer.
 */
export function sourceContainerName(source: NormalizationSource): string {
  return findAudioContainer(source)?.name ?? source.format.split(",")[0] ?? source.format
}

/**
 * Returns the container to write for a source whose own container cannot be written: Matroska for
 * video or several audio streams, else an audio container.
 */
export function findSubstituteContainer(
  source: NormalizationSource,
  isLossless: boolean,
): AudioContainer | null {
  return CONTAINERS.find(({ name }) => name === otherName(source, isLossless)) ?? null
}

function otherName({ audio, others }: NormalizationSource, isLossless: boolean): string {
  if (audio.length > 1 || others.some(({ type }) => type === "video")) return "matroska"
  if (isLossless) return "flac"
  return audio[0]?.codec === "dts" ? "eac3" : "m4a"
}
