import { lastValue } from "../../../contract/command-line.ts"
import type { ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { metaOf } from "./known.ts"
import type { Known, KnownEntry } from "./known.ts"

/** What a stream is: picture, sound, or subtitles. */
export type Medium = "V" | "A" | "S"

/** What media are called in sentences. */
export const MEDIUM_NAMES: Record<Medium, string> = { V: "pictures", A: "sound", S: "subtitles" }

/** Encoders that ffmpeg takes for a codec where none is named, if they are there. */
const FIRST_ENCODERS: Record<string, string> = {
  h264: "libx264",
  hevc: "libx265",
  vp8: "libvpx",
  vp9: "libvpx-vp9",
  mp3: "libmp3lame",
  vorbis: "libvorbis",
  opus: "libopus",
  theora: "libtheora",
}

/** Names of options that choose a codec, and the one medium that some are for. */
const MEDIA_OF = new Map<string, Medium | null>([
  ["c", null],
  ["codec", null],
  ["vcodec", "V"],
  ["acodec", "A"],
  ["scodec", "S"],
])

const codecs = new WeakMap<Known, Partial<Record<"decodable" | "encodable", Map<string, string>>>>()

/** The codecs that are decoded or encoded: the letters of their media by name. */
export function codecsOf(
  known: Known,
  list: "decodable" | "encodable",
): ReadonlyMap<string, string> {
  const kept = codecs.get(known) ?? {}
  codecs.set(known, kept)
  return (kept[list] ??= new Map(
    [...known.names(list)].map((each) => {
      const [name = "", media = ""] = each.split(":")
      return [name, media] as const
    }),
  ))
}

/** Which medium an option's specifier is of: `V` of `-c:v:0`; null where it says none. */
export function mediumOf({ word, name }: ReadOption): Medium | null {
  const own = MEDIA_OF.get(name)
  if (own) return own
  const [, letter = ""] = /^-\w+:([vVas])(?::|$)/.exec(word) ?? []
  return MEDIA.get(letter.toLowerCase()) ?? null
}

const MEDIA = new Map<string, Medium>([
  ["v", "V"],
  ["a", "A"],
  ["s", "S"],
])

/** Whether an option chooses a codec. */
export function choosesCodec(name: string): boolean {
  return MEDIA_OF.has(name)
}

/** What was found of a file: it is asked for with each of its options, and looks through all of them. */
type Found = {
  known: Known
  muxers?: KnownEntry[] | null
  encoders: Partial<Record<Medium, string | null>>
}
const found = new WeakMap<ReadFile, Found>()

function foundOf(file: ReadFile, known: Known): Found {
  const kept = found.get(file)
  if (kept?.known === known) return kept
  const made: Found = { known, encoders: {} }
  found.set(file, made)
  return made
}

/** The formats that an output may be, by -f or else by its name; null where nothing says. */
export function muxersOf(file: ReadFile, known: Known): KnownEntry[] | null {
  const kept = foundOf(file, known)
  if (kept.muxers === undefined) kept.muxers = findMuxers(file, known)
  return kept.muxers
}

function findMuxers(file: ReadFile, known: Known): KnownEntry[] | null {
  const format = lastValue(file, "f")?.toLowerCase()
  if (format !== undefined) {
    const entry = known.find("muxers", format)
    return entry && [entry]
  }
  const extension = /\.([^.]+)$/.exec(file.word)?.[1]?.toLowerCase()
  if (extension === undefined) return null
  const own = known.find("muxers", FIRST_MUXERS[extension] ?? extension)
  if (own && (FIRST_MUXERS[extension] !== undefined || metaOf(own, "x").includes(extension))) {
    return [own]
  }
  const found = [...known.names("muxers")].flatMap((name) => {
    const entry = known.find("muxers", name)
    return entry && metaOf(entry, "x").includes(extension) ? [entry] : []
  })
  return found.length > 0 ? found : null
}

/** Formats that ffmpeg takes first for an extension, or has a second time by another. */
const FIRST_MUXERS: Record<string, string> = {
  m4a: "ipod",
  m4v: "ipod",
  mka: "matroska",
  mpg: "mpeg",
  ts: "mpegts",
  vob: "vob",
}

/** The encoder of a medium of an output: named, or that of its format; null where it is not known. */
export function encoderOf(file: ReadFile, medium: Medium, known: Known): string | null {
  const { encoders } = foundOf(file, known)
  const kept = encoders[medium]
  if (kept !== undefined) return kept
  const made = findEncoder(file, medium, known)
  encoders[medium] = made
  return made
}

function findEncoder(file: ReadFile, medium: Medium, known: Known): string | null {
  const named = file.options.filter((option) => {
    return choosesCodec(option.name) && [null, medium].includes(mediumOf(option))
  })
  // Of several that are for single streams, nothing is known.
  if (new Set(named.map(({ value }) => value)).size > 1) return null
  const codec = named.at(-1)?.value ?? defaultCodec(file, medium, known)
  if (codec === null || known.names("encoders").has(codec)) return codec
  const first = FIRST_ENCODERS[codec]
  if (first !== undefined && known.names("encoders").has(first)) return first
  return codec === "copy" ? codec : null
}

function defaultCodec(file: ReadFile, medium: Medium, known: Known): string | null {
  const [muxer, ...others] = muxersOf(file, known) ?? []
  if (!muxer || others.length > 0) return null
  return metaOf(muxer, medium.toLowerCase())[0] ?? null
}
