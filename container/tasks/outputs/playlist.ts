import { BUNDLE_MEMBERS_MAX } from "../../../src/contract/bundle.ts"
import { matchesPatternParts } from "../../../src/contract/name-pattern.ts"
import type { NamePatternPart } from "../../../src/contract/name-pattern.ts"

/**
 * Parsed HLS playlist or DASH manifest. `isNaming` reports whether the playlist names a file.
 * `durationSeconds` is null if the playlist has no duration. `keys` contains the names of the key
 * files of encrypted segments.
 */
export type Playlist = {
  isNaming: (name: string) => boolean
  durationSeconds: number | null
  keys: ReadonlySet<string>
}

/**
 * Maximum number of segment templates in a DASH manifest, and maximum number of fields in a
 * template. The limits bound the time for matching file names.
 */
const TEMPLATES_MAX = 16
const TEMPLATE_FIELDS_MAX = 2

/** Maximum number of distinct URIs that are read from one playlist. */
const URIS_MAX = 2 * BUNDLE_MEMBERS_MAX
const URI_LENGTH_MAX = 1000

const FIELDS = new Map<string, NamePatternPart>([
  ["RepresentationID", { kind: "any" }],
  ["Bandwidth", { kind: "digits" }],
  ["Number", { kind: "digits" }],
  ["Time", { kind: "digits" }],
])

const ENTITIES: Record<string, string> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' }

/** Parses an HLS playlist, or a DASH manifest if the file name ends with `.mpd`. */
export function parsePlaylist(name: string, text: string): Playlist {
  return /\.mpd$/i.test(name) ? readManifest(text) : readHls(text)
}

function readHls(text: string): Playlist {
  const uris = openUriSet()
  const keys = openUriSet()
  let durationSeconds: number | null = null
  for (const line of text.split(/\r?\n/)) {
    if (line === "") continue
    const named = /^#EXT-X-(?:SESSION-)?KEY:/.test(line) ? keys : uris
    const length = /^#EXTINF:\s*([\d.]+)/.exec(line)?.[1]
    if (length !== undefined) durationSeconds = (durationSeconds ?? 0) + (Number(length) || 0)
    for (const [, uri = ""] of line.matchAll(/\bURI="([^"]*)"/g)) named.add(uri)
    if (!line.startsWith("#")) uris.add(line.trim())
  }
  const names = namesFromUris(uris.unique)
  return {
    isNaming: (name) => names.has(name),
    durationSeconds: roundMicro(durationSeconds),
    keys: namesFromUris(keys.unique),
  }
}

function roundMicro(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1e6) / 1e6
}

function readManifest(text: string): Playlist {
  const uris = openUriSet()
  const attributes = text.matchAll(/\s(?:media|initialization|sourceURL|index)="([^"]*)"/g)
  for (const [, uri = ""] of attributes) uris.add(uri)
  for (const [, uri = ""] of text.matchAll(/<BaseURL[^<>]*>([^<]*)</g)) uris.add(uri)
  const plain: string[] = []
  const templates: NamePatternPart[][] = []
  for (const uri of uris.unique) {
    const named = decodeEntities(uri).trim()
    const parts =
      named.includes("$") && templates.length < TEMPLATES_MAX ? parseTemplate(named) : null
    if (parts) templates.push(parts)
    else plain.push(named)
  }
  const names = namesFromUris(plain)
  return {
    isNaming: (name) =>
      names.has(name) || templates.some((parts) => matchesPatternParts(parts, name)),
    durationSeconds: readDuration(/\bmediaPresentationDuration="([^"]*)"/.exec(text)?.[1] ?? ""),
    keys: new Set(),
  }
}

/** Creates a collector of distinct URIs that limits the number and the length of the URIs. */
function openUriSet() {
  const unique = new Set<string>()
  return {
    unique,
    add(uri: string): void {
      if (uri.length <= URI_LENGTH_MAX && unique.size < URIS_MAX) unique.add(uri)
    },
  }
}

/**
 * Returns the file names that the URIs of a playlist may mean: each URI itself, since ffmpeg writes
 * file names without percent-encoding, and the percent-decoded URI.
 */
function namesFromUris(uris: Iterable<string>): Set<string> {
  const names = new Set<string>()
  for (const uri of uris) {
    const name = uri.replace(/^(?:\.\/)+/, "")
    names.add(name)
    try {
      if (name.includes("%")) names.add(decodeURIComponent(name))
    } catch {
      // Ignores the error, since a URI with invalid percent-encoding can only be a literal file
      // name.
    }
  }
  return names
}

/**
 * Parses a segment template of a DASH manifest. `$Number%05d$` stands for any number, and `$$` for
 * a dollar sign. Returns null for a template with too many fields.
 */
function parseTemplate(template: string): NamePatternPart[] | null {
  const pieces = template.replace(/^(?:\.\/)+/, "").split(/\$([A-Za-z]*)(?:%0\d+d)?\$/)
  const parts: NamePatternPart[] = []
  let text = ""
  for (const [index, piece] of pieces.entries()) {
    const isField = index % 2 === 1
    const field = isField ? FIELDS.get(piece) : undefined
    if (field) {
      parts.push({ kind: "text", text }, field)
      text = ""
    } else {
      const dollars = piece === "" ? "$" : `$${piece}$`
      text += isField ? dollars : piece
    }
  }
  return parts.length > 2 * TEMPLATE_FIELDS_MAX ? null : [...parts, { kind: "text", text }]
}

/**
 * Parses an ISO 8601 duration of hours, minutes and seconds. Returns seconds, or null for other
 * text.
 */
function readDuration(text: string): number | null {
  const number = String.raw`(\d+(?:\.\d+)?)`
  const form = new RegExp(`^PT(?:${number}H)?(?:${number}M)?(?:${number}S)?$`)
  const [, hours, minutes, seconds] = form.exec(text) ?? []
  if (hours === undefined && minutes === undefined && seconds === undefined) return null
  return Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)
}

function decodeEntities(text: string): string {
  return text.replace(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole)
}
