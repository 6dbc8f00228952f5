import { MEMBERS_MAX } from "../src/contract/bundle.ts"
import { fitsParts } from "../src/contract/name-pattern.ts"
import type { PatternPart } from "../src/contract/name-pattern.ts"

/** What a playlist says of the files beside it, and how long it plays, where it says so. */
export type Playlist = { isNaming: (name: string) => boolean; durationSeconds: number | null }

/** Finding what fits more templates, or more places in one, could take for ever. */
const TEMPLATES_MAX = 16
const TEMPLATE_PLACES_MAX = 2

/** Addresses of one playlist that are looked at; a list of parts of one file says it each time. */
const ADDRESSES_MAX = 2 * MEMBERS_MAX
const ADDRESS_LENGTH_MAX = 1000

const PLACES = new Map<string, PatternPart>([
  ["RepresentationID", { kind: "any" }],
  ["Bandwidth", { kind: "digits" }],
  ["Number", { kind: "digits" }],
  ["Time", { kind: "digits" }],
])

const ENTITIES: Record<string, string> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' }

/** Reads an HLS playlist or a DASH manifest. */
export function readPlaylist(name: string, text: string): Playlist {
  return /\.mpd$/i.test(name) ? readManifest(text) : readHls(text)
}

function readHls(text: string): Playlist {
  const addresses = openAddresses()
  let durationSeconds: number | null = null
  for (const line of text.split(/\r?\n/)) {
    if (line === "") continue
    const length = /^#EXTINF:\s*([\d.]+)/.exec(line)?.[1]
    if (length !== undefined) durationSeconds = (durationSeconds ?? 0) + (Number(length) || 0)
    for (const [, uri = ""] of line.matchAll(/\bURI="([^"]*)"/g)) addresses.add(uri)
    if (!line.startsWith("#")) addresses.add(line.trim())
  }
  const names = namesOf(addresses.written)
  return { isNaming: (name) => names.has(name), durationSeconds: roundMicro(durationSeconds) }
}

function roundMicro(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1e6) / 1e6
}

function readManifest(text: string): Playlist {
  const addresses = openAddresses()
  const attributes = text.matchAll(/\s(?:media|initialization|sourceURL|index)="([^"]*)"/g)
  for (const [, uri = ""] of attributes) addresses.add(uri)
  for (const [, uri = ""] of text.matchAll(/<BaseURL[^<>]*>([^<]*)</g)) addresses.add(uri)
  const plain: string[] = []
  const templates: PatternPart[][] = []
  for (const uri of addresses.written) {
    const named = decodeEntities(uri).trim()
    const parts = named.includes("$") && templates.length < TEMPLATES_MAX ? partsOf(named) : null
    if (parts) templates.push(parts)
    else plain.push(named)
  }
  const names = namesOf(plain)
  return {
    isNaming: (name) => names.has(name) || templates.some((parts) => fitsParts(parts, name)),
    durationSeconds: readDuration(/\bmediaPresentationDuration="([^"]*)"/.exec(text)?.[1] ?? ""),
  }
}

/** Addresses as they are written, each once. */
function openAddresses() {
  const written = new Set<string>()
  return {
    written,
    add(uri: string): void {
      if (uri.length <= ADDRESS_LENGTH_MAX && written.size < ADDRESSES_MAX) written.add(uri)
    },
  }
}

/** A name may be written as it is, as ffmpeg does, or as a relative URL. */
function namesOf(addresses: Iterable<string>): Set<string> {
  const names = new Set<string>()
  for (const uri of addresses) {
    const name = uri.replace(/^(?:\.\/)+/, "")
    names.add(name)
    try {
      if (name.includes("%")) names.add(decodeURIComponent(name))
    } catch {
      // It is no URL, and its name is as it is written.
    }
  }
  return names
}

/** `$Number%05d$` and the like stand for any number, `$$` for a dollar. */
function partsOf(template: string): PatternPart[] | null {
  const pieces = template.replace(/^(?:\.\/)+/, "").split(/\$([A-Za-z]*)(?:%0\d+d)?\$/)
  const parts: PatternPart[] = []
  let text = ""
  for (const [index, piece] of pieces.entries()) {
    const isPlace = index % 2 === 1
    const place = isPlace ? PLACES.get(piece) : undefined
    if (place) {
      parts.push({ kind: "text", text }, place)
      text = ""
    } else {
      const dollars = piece === "" ? "$" : `$${piece}$`
      text += isPlace ? dollars : piece
    }
  }
  return parts.length > 2 * TEMPLATE_PLACES_MAX ? null : [...parts, { kind: "text", text }]
}

/** Seconds of an ISO 8601 duration without months, as manifests have it. */
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
