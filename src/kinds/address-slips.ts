import { NOT_WEB } from "../contract/user-url.ts"
import { cutText } from "../cut-text.ts"
import { EXAMPLE_ID, isId } from "../ids.ts"
import { nearestName } from "../suggest.ts"
import { isOwnUrl } from "./own-url.ts"
import { isPath, isUrlWithoutScheme } from "./path-slips.ts"

/** What an address is for: an input, what is to be brought in from elsewhere, or what is called at the end. */
export type AddressUse = "input" | "import" | "webhook"

/** `origin` is that of this service. */
type Place = { use: AddressUse; origin: string }

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
const SHOWN_LENGTH_MAX = 120

/** What to do about a file that only its caller has. */
const UPLOAD: Record<AddressUse, string> = {
  input: "upload the file with POST /v1/files, and write `svc_id://<id>` with the id of the answer",
  import: "send the file itself with POST /v1/files, as `curl -F file=@film.mp4`",
  webhook: "give the http or https URL of a server that can be reached from here",
}

/** What to do about a file that the service has already, where it is no input. */
const OWN: Record<Exclude<AddressUse, "input">, string> = {
  import:
    "which needs no import: name it as `svc_id://<id>` where an input is expected, or download it by its download_url",
  webhook: "and expected is that of your own server",
}

/** What an address is, in the sentence of a fault. */
export const EXPECTED: Record<AddressUse, string> = {
  input: "expected svc_id://<uuid>, a File's download_url, a public URL or s3://<bucket>/<key>",
  import: NOT_WEB,
  webhook: NOT_WEB,
}

/**
 * What to write in the place of a text that is no usable address, by what it was likely meant as; what
 * was expected where that cannot be told.
 */
export function describeAddress(text: string, place: Place): string {
  const expected = EXPECTED[place.use]
  if (text.trim() === "") return `it is empty: ${expected}`
  return describeSlip(text, place) ?? expected
}

function describeSlip(text: string, place: Place): string | null {
  const { use } = place
  return (
    describeMarks(text, place) ??
    describePlaceholder(text) ??
    describeId(text, use) ??
    describeOwn(text, place) ??
    describeBytes(text, use) ??
    describeSchemeSlip(text) ??
    describePath(text, use) ??
    describeScheme(text, use) ??
    describeBlanks(text)
  )
}

/** A text of a caller as a sentence shows it. */
function shown(text: string): string {
  return `\`${cutText(text, SHOWN_LENGTH_MAX)}\``
}

/** One address with something around it: quotes, brackets, the name of a program. */
function describeMarks(text: string, { use }: Place): string | null {
  const addresses = text.match(/\b(?:https?|svc_id|s3):\/\/[^\s"'“”‘’<>()`]+/gi) ?? []
  const [address] = addresses
  if (address === undefined) return null
  if (addresses.length > 1) return "expected one address, and there are several"
  if (use === "webhook" && !/^http/i.test(address)) return null
  const [before = "", behind = ""] = text.split(address)
  // What follows a blank may be a part of it.
  const isAlone = before + behind === "" || !/^[\s"'“”‘’<>()`]*$/.test(behind)
  return isAlone ? null : `write ${shown(address)} alone, with nothing around it`
}

/** What a program was to replace. */
function describePlaceholder(text: string): string | null {
  const isKey = /^(?:\{\{\s*\w+\s*\}\}|(?:in|out)_\d+)$/.test(text)
  if (isKey)
    return `${shown(text)} is a key: it stands in the command, and here is what it stands for`
  const isPlaceholder = /^(?:<[^>]*>|\$\{?\w+\}?|%\w+%|\{\w+\}|[A-Z]+_[A-Z_]+)$/.test(text)
  if (isPlaceholder && !isId(text.slice(1, -1))) {
    return `${shown(text)} is a placeholder: write the address itself in its place`
  }
  const inside = /\$\{\w+\}|\{\{?\w+\}?\}|<[^<>]*>/.exec(text)?.[0]
  return inside === undefined ? null : `${shown(inside)} in it is a placeholder: fill it in`
}

/** The id of a File, whatever is around it. */
function describeId(text: string, use: AddressUse): string | null {
  const id = idIn(text)
  if (id !== null) return use === "input" ? `write \`svc_id://${id}\`` : ownOf(text, use)
  const isNamed = /^svc[-_]?id:/i.test(text)
  if (isNamed && use !== "input") return ownOf(text, use)
  const named = text.replace(/^[^:]*:\/*/, "")
  const cut = describeCutId(named, shown(named))
  if (cut !== null) return cut
  if (!isNamed) return null
  return `expected the id of a File behind \`svc_id://\`, as in \`svc_id://${EXAMPLE_ID}\`: POST /v1/files answers it, and GET /v1/files lists them`
}

/** What to do about a word that is an id but for its length, `written` as a sentence shows it; null for others. */
export function describeCutId(word: string, written: string): string | null {
  if (!/^[0-9a-f]{6,}-[0-9a-f-]+$/i.test(word)) return null
  return `copy the id whole: one has 36 characters, and ${written} has ${word.length}`
}

function ownOf(text: string, use: keyof typeof OWN): string {
  // What is behind it may hold a key.
  const [address = ""] = text.split(/[?#]/, 1)
  return `${shown(address)} is a URL of this service, ${OWN[use]}`
}

function idIn(text: string): string | null {
  const digits = /^[0-9a-f]{32}$/i.exec(text)?.[0]
  if (digits !== undefined) {
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5").toLowerCase()
  }
  const word = /^(?:\{|(?:svc(?:[-_]?id)?|file|file_?id|id|lathe|uuid)[:=]\/*)?([^{}/?#]*)/i.exec(
    text,
  )?.[1]
  return word !== undefined && isId(word) ? word.toLowerCase() : null
}

/** An address of this service that names no File as an input does. */
function describeOwn(text: string, { use, origin }: Place): string | null {
  const url = URL.parse(text, /^\/(?:v1|public|media)\//.test(text) ? origin : undefined)
  if (!url || !/^https?:$/.test(url.protocol) || !isOwnUrl(url, origin)) return null
  if (use !== "input") return ownOf(text, use)
  const id = new RegExp(`^/(?:v1/files|public/\\d+)/(${UUID})(?:/|$)`, "i").exec(url.pathname)?.[1]
  if (id !== undefined) return `write \`svc_id://${id.toLowerCase()}\``
  return `${shown(url.pathname)} is of this service and no File: write \`svc_id://<id>\`; the record of a job names the ids of what it made`
}

/** Bytes in the place of an address. */
function describeBytes(text: string, use: AddressUse): string | null {
  const scheme = /^(data|blob):/i.exec(text)?.[1]
  const isBase64 = text.length > 100 && /^[A-Za-z0-9+/=_-]+$/.test(text)
  if (scheme === undefined && !isBase64) return null
  const what =
    scheme === undefined
      ? "these are bytes in base64"
      : `${shown(`${scheme}:`)} is no address that can be asked`
  return `${what}: ${UPLOAD[use]}`
}

/** A file of the caller's machine, or the name of a host without its scheme. */
function describePath(text: string, use: AddressUse): string | null {
  const web = isUrlWithoutScheme(text, use)
  if (web !== null) return `write ${shown(web)}, with its scheme`
  if (!isPath(text)) return null
  return use === "webhook"
    ? `${shown(text)} is no URL: ${UPLOAD.webhook}`
    : `${shown(text)} is a file of your own machine, which nothing here can read: ${UPLOAD[use]}`
}

/** A slip in the scheme of a URL of the web, or in what stands behind it. */
function describeSchemeSlip(text: string): string | null {
  const [, scheme = "", rest = ""] = /^([a-z]{3,8})[:;.]{0,2}[/\\]{1,3}(.*)$/i.exec(text) ?? []
  const known = nearestName(scheme, ["https", "http"])
  if (known === null || !/^[\w-]+(?:\.\w|:\d|\/|$)/.test(rest)) return null
  const meant = `${known}://${rest.replaceAll("\\", "/")}`
  return meant === text ? null : `write ${shown(meant)}`
}

/** A scheme that nothing is asked by. */
function describeScheme(text: string, use: AddressUse): string | null {
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*):\/{0,2}(.*)$/i.exec(text) ?? []
  if (scheme === "" || /^(?:https?|s3)$/i.test(scheme)) return null
  if (/^(?:gs|gcs)$/i.test(scheme) && use !== "webhook") {
    return `write its URL of the web: ${shown(`https://storage.googleapis.com/${rest}`)}, signed where it is not public`
  }
  const remedy = use === "webhook" ? "" : `, or ${UPLOAD[use]}`
  return `nothing is asked by ${shown(`${scheme}:`)} here: give an http or https URL${remedy}`
}

/** A URL of the web with blanks or backslashes in it. */
function describeBlanks(text: string): string | null {
  if (!/^https?:\/\/\S/i.test(text) || !/[ \\]/.test(text)) return null
  return `write ${shown(text.replaceAll(" ", "%20").replaceAll("\\", "/"))}: no blanks and no backslashes`
}
