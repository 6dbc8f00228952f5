import { z } from "zod"
import { matchesPatternParts } from "./name-pattern.ts"
import type { NamePatternPart } from "./name-pattern.ts"

/**
 * Kind of a bundle, which is an output of several files: a playlist with the files that the
 * playlist names, or a series of files whose names match a pattern of ffmpeg. In a pattern, `%d`
 * and `%03d` stand for a number, `%v` for an HLS variant, and `%%` for a percent sign. With
 * `has_times`, the letters of strftime stand for parts of a time.
 */
export type BundleKind = "playlist" | "series"

/**
 * Name of an output file, or name pattern of a series of files. With `has_times`, the pattern
 * contains strftime fields, such as `%Y`, for parts of a time.
 */
export type OutputName = { name: string; has_times?: true | undefined }

/** Maximum number of members in all bundles of one command. */
export const BUNDLE_MEMBERS_MAX = 5000
/** Maximum total length of the member names in all bundles of one command, in bytes. */
export const BUNDLE_MEMBER_NAMES_BYTES_MAX = 400_000
const MEMBER_NAME_BYTES_MAX = 240

const FIELD = /%(?:\d{0,2}d|v|%)/g
/**
 * Matches the fields of a name pattern with times: letters of strftime, such as `%Y`, and the
 * fields `%%d`, `%%s` and `%%t` of ffmpeg's `hls` muxer.
 */
const TIME_FIELD = /%(?:%\d{0,2}[dst]|[A-Za-z]|%)/g

/**
 * Schema of a bundle member's name: a plain file name, which neither an archive nor a URL can
 * interpret as a path.
 */
export const bundleMemberNameSchema = z
  .string()
  .min(1)
  // eslint-disable-next-line no-control-regex -- the pattern refuses control characters
  .regex(/^(?!\.{1,2}$)[^/\\\u0000-\u001f\u007f-\u009f\ufffd]+$/)
  .refine((name) => name.isWellFormed())
  .refine((name) => countUtf8Bytes(name) <= MEMBER_NAME_BYTES_MAX)

/**
 * Schema of a file in a bundle. The CRC-32 of the file is stored because ZIP archives contain it.
 */
export const bundleMemberSchema = z.object({
  name: bundleMemberNameSchema,
  size_bytes: z.int().nonnegative(),
  content_type: z.string().max(200),
  crc32: z.int().min(0).max(0xffff_ffff),
})

export type BundleMember = z.infer<typeof bundleMemberSchema>

/** Description of a stored bundle: its playlist, its duration and its members. */
export type Bundle = {
  kind: BundleKind
  /** Name of the playlist that a player opens first; absent for a series. */
  playlist?: string
  /** Duration of the longest playlist in the bundle, in seconds. */
  durationSeconds?: number
  /** Files of the bundle; absent if the bundle was loaded without its list of files. */
  members?: BundleMember[]
}

/** Returns the kind of bundle that an output's name denotes; null for a plain file. */
export function findBundleKind(output: OutputName): BundleKind | null {
  if (splitNamePattern(output).length > 1) return "series"
  return isPlaylistFileName(output.name) ? "playlist" : null
}

/** Reports whether a file name has the extension of an HLS or DASH playlist. */
export function isPlaylistFileName(name: string): boolean {
  return /\.(?:m3u8|mpd)$/i.test(name)
}

/** Reports whether a file name equals an output's name or matches the output's name pattern. */
export function matchesNamePattern(output: OutputName, name: string): boolean {
  return compileNamePattern(output)(name)
}

/** Compiles the name pattern of an output to a function that tests file names. */
export function compileNamePattern(output: OutputName): (name: string) => boolean {
  const parts = splitNamePattern(output).flatMap(({ text, field }) => {
    return field === null ? parseText(text) : [parseField(field, output), ...parseText(text)]
  })
  return (name) => name === output.name || matchesPatternParts(parts, name)
}

/** Returns the name of an output's ZIP archive: `frame_%03d.png` gives `frame.zip`. */
export function makeOutputZipName(output: OutputName): string {
  const plain = splitNamePattern(output)
    .map(({ text }, index, { length }) =>
      index < length - 1 ? text.replace(/[ ._+@-]+$/, "") : text,
    )
    .join("")
    .replaceAll("%%", "%")
    .replace(/\.[A-Za-z0-9]{1,10}$/, "")
    .replace(/^[ ._+@-]+|[ ._+@-]+$/g, "")
  return `${plain === "" ? "files" : plain}.zip`
}

/**
 * Returns the name of the ZIP archive for a stored bundle. The stored name of a series of files
 * already is the name of its archive.
 */
export function makeStoredBundleZipName(name: string): string {
  return isPlaylistFileName(name) ? makeOutputZipName({ name }) : name
}

/**
 * Literal text in a name pattern, with the field before the text, such as `%03d`. `field` is null
 * for the text at the start of the pattern.
 */
export type NamePatternText = { text: string; field: string | null }

/**
 * Splits a name pattern into its literal texts and fields. A name without fields gives a list with
 * one text.
 */
export function splitNamePattern({ name, has_times }: OutputName): NamePatternText[] {
  const texts: NamePatternText[] = []
  let [begin, before]: [number, string | null] = [0, null]
  for (const { 0: field, index } of name.matchAll(has_times ? TIME_FIELD : FIELD)) {
    if (field === "%%") continue
    texts.push({ text: name.slice(begin, index), field: before })
    ;[begin, before] = [index + field.length, field]
  }
  return [...texts, { text: name.slice(begin), field: before }]
}

export function countUtf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length
}

function parseText(text: string): NamePatternPart[] {
  return text.split("%%").flatMap((each, index): NamePatternPart[] => {
    const part = { kind: "text" as const, text: each }
    return index === 0 ? [part] : [{ kind: "percents" }, part]
  })
}

function parseField(field: string, { has_times }: OutputName): NamePatternPart {
  if (has_times || field === "%v") return { kind: "any" }
  return { kind: "number", width: Math.max(1, Number(field.slice(1, -1))) }
}
