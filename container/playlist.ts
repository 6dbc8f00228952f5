/** What a playlist says of the files beside it, and how long it plays, where it says so. */
export type Playlist = { isNaming: (name: string) => boolean; durationSeconds: number | null }

/** Finding what fits more templates, or more places in one, could take for ever. */
const TEMPLATES_MAX = 16
const TEMPLATE_PLACES_MAX = 2

const DIGITS = String.raw`\d+`
const PLACES: Record<string, string> = {
  RepresentationID: "[^/]+",
  Bandwidth: DIGITS,
  Number: DIGITS,
  Time: DIGITS,
}

const ENTITIES: Record<string, string> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' }

/** Reads an HLS playlist or a DASH manifest. */
export function readPlaylist(name: string, text: string): Playlist {
  return /\.mpd$/i.test(name) ? readManifest(text) : readHls(text)
}

function readHls(text: string): Playlist {
  const names = new Set<string>()
  let durationSeconds: number | null = null
  for (const line of text.split(/\r?\n/)) {
    const length = /^#EXTINF:\s*([\d.]+)/.exec(line)?.[1]
    if (length !== undefined) durationSeconds = (durationSeconds ?? 0) + (Number(length) || 0)
    for (const [, uri = ""] of line.matchAll(/\bURI="([^"]*)"/g)) addName(names, uri)
    if (!line.startsWith("#")) addName(names, line.trim())
  }
  return { isNaming: (name) => names.has(name), durationSeconds: roundMicro(durationSeconds) }
}

function roundMicro(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1e6) / 1e6
}

function readManifest(text: string): Playlist {
  const names = new Set<string>()
  const templates = new Map<string, RegExp>()
  const attributes = text.matchAll(/\s(?:media|initialization|sourceURL|index)="([^"]*)"/g)
  for (const [, uri = ""] of [...attributes, ...text.matchAll(/<BaseURL[^<>]*>([^<]*)</g)]) {
    const named = decodeEntities(uri).trim()
    if (!named.includes("$")) addName(names, named)
    else if (templates.size < TEMPLATES_MAX && !templates.has(named)) {
      const expression = expressionOf(named)
      if (expression) templates.set(named, expression)
    }
  }
  return {
    isNaming: (name) =>
      names.has(name) || [...templates.values()].some((expression) => expression.test(name)),
    durationSeconds: readDuration(/\bmediaPresentationDuration="([^"]*)"/.exec(text)?.[1] ?? ""),
  }
}

/** A name may be written as it is, as ffmpeg does, or as a relative URL. */
function addName(names: Set<string>, uri: string): void {
  const name = uri.replace(/^(?:\.\/)+/, "")
  names.add(name)
  try {
    names.add(decodeURIComponent(name))
  } catch {
    // It is no URL, and its name is as it is written.
  }
}

/** `$Number%05d$` and the like stand for any number, `$$` for a dollar. */
function expressionOf(template: string): RegExp | null {
  const pieces = template.replace(/^(?:\.\/)+/, "").split(/\$([A-Za-z]*)(?:%0\d+d)?\$/)
  if (pieces.length > 2 * TEMPLATE_PLACES_MAX + 1) return null
  const source = pieces.map((piece, index) => {
    if (index % 2 === 0) return RegExp.escape(piece)
    return piece === "" ? String.raw`\$` : (PLACES[piece] ?? RegExp.escape(`$${piece}$`))
  })
  return new RegExp(`^${source.join("")}$`, "u")
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
