import { z } from "zod"
import { fitsParts } from "./name-pattern.ts"
import type { PatternPart } from "./name-pattern.ts"

/**
 * A bundle is an output of several files: a playlist with what it names, or a series whose name is
 * a pattern as ffmpeg writes them: `%d` and `%03d` for a number, `%v` for a variant, `%%` for `%`.
 */
export type BundleKind = "playlist" | "series"

/** Members of all bundles of one command, and bytes of their names. */
export const MEMBERS_MAX = 5000
export const MEMBER_NAMES_BYTES_MAX = 400_000
const MEMBER_NAME_BYTES_MAX = 240

const FIELD = /%(?:\d{0,2}d|v|%)/g

/** A member's name: one plain file name, which no archive or address can take for a path. */
export const memberName = z
  .string()
  .min(1)
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  .regex(/^(?!\.{1,2}$)[^/\\\u0000-\u001f\u007f-\u009f\ufffd]+$/)
  .refine((name) => name.isWellFormed())
  .refine((name) => byteLengthOf(name) <= MEMBER_NAME_BYTES_MAX)

/** One file of a bundle, its CRC-32 as ZIP archives have it. */
export const member = z.object({
  name: memberName,
  size_bytes: z.int().nonnegative(),
  content_type: z.string().max(200),
  crc32: z.int().min(0).max(0xffff_ffff),
})

export type Member = z.infer<typeof member>

/** What a file of several files consists of. */
export type Bundle = {
  kind: BundleKind
  /** The member that a player begins with, where there is one. */
  playlist?: string
  /** How long its longest playlist plays. */
  durationSeconds?: number
  /** Left out where a file was read without them. */
  members?: Member[]
}

/** What kind of bundle an output of this name is; null for a plain file. */
export function bundleKindOf(name: string): BundleKind | null {
  if (fillFields(name).count > 0) return "series"
  return isPlaylist(name) ? "playlist" : null
}

/** Whether a file of this name is a playlist, which names other files. */
export function isPlaylist(name: string): boolean {
  return /\.(?:m3u8|mpd)$/i.test(name)
}

/** The name with each field of a pattern as `0`, and how many there are; a wrong `%` is left. */
export function fillFields(pattern: string): { name: string; count: number } {
  const fields = pattern.match(FIELD) ?? []
  return {
    name: pattern.replace(FIELD, "0"),
    count: fields.filter((field) => field !== "%%").length,
  }
}

/** Whether a file's name is one that a pattern stands for. */
export function fitsPattern(pattern: string, name: string): boolean {
  return namesOfPattern(pattern)(name)
}

/** The same for many names. */
export function namesOfPattern(pattern: string): (name: string) => boolean {
  const parts = partsOf(pattern)
  return (name) => name === pattern || fitsParts(parts, name)
}

/** The file name of a series as one archive: `frame_%03d.png` is `frame.zip`. */
export function archiveNameOf(pattern: string): string {
  const plain = pattern
    .replace(/[ ._+@-]*%(?:\d{0,2}d|v)/g, "")
    .replaceAll("%%", "%")
    .replace(/\.[A-Za-z0-9]{1,10}$/, "")
    .replace(/^[ ._+@-]+|[ ._+@-]+$/g, "")
  return `${plain === "" ? "files" : plain}.zip`
}

export function byteLengthOf(text: string): number {
  return new TextEncoder().encode(text).length
}

function partsOf(pattern: string): PatternPart[] {
  const parts: PatternPart[] = []
  let end = 0
  for (const field of pattern.matchAll(FIELD)) {
    parts.push({ kind: "text", text: pattern.slice(end, field.index) }, partOf(field[0]))
    end = field.index + field[0].length
  }
  return [...parts, { kind: "text", text: pattern.slice(end) }]
}

function partOf(field: string): PatternPart {
  if (field === "%%") return { kind: "percents" }
  if (field === "%v") return { kind: "any" }
  return { kind: "number", width: Math.max(1, Number(field.slice(1, -1))) }
}
