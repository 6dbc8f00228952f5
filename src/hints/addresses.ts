import { NOT_WEB } from "../contract/user-url.ts"
import { EXAMPLE_ID, isId } from "../ids.ts"
import { isOwnUrl } from "../kinds/own-url.ts"
import { findHint, shown } from "./hint-table.ts"
import type { Hint } from "./hint-table.ts"
import { describeNoId } from "./ids.ts"
import { nearestName } from "./nearest-name.ts"

/** The use of an address: an input, a file to bring in from elsewhere, or a receiver of webhooks. */
export type AddressUse = "input" | "import" | "webhook"

/** `origin` is that of this service. */
type AddressField = { use: AddressUse; origin: string }

/** The way in for a file that only its caller has. */
const UPLOAD: Record<AddressUse, string> = {
  input: "upload the file with POST /v1/files, and write `svc_id://<id>` with the id of the answer",
  import: "send the file itself with POST /v1/files, as `curl -F file=@film.mp4`",
  webhook: "give the http or https URL of a server that can be reached from here",
}

/** The remedy for an address of this service in a field that takes none. */
const OWN: Record<Exclude<AddressUse, "input">, string> = {
  import:
    "which needs no import: name it as `svc_id://<id>` where an input is expected, or download it by its download_url",
  webhook: "and expected is that of your own server",
}

/** The addresses that a field takes, in the sentence of a fault. */
export const EXPECTED: Record<AddressUse, string> = {
  input: "expected svc_id://<uuid>, a File's download_url, a public URL or s3://<bucket>/<key>",
  import: NOT_WEB,
  webhook: NOT_WEB,
}

const PLACEHOLDERS: readonly Hint[] = [
  [
    /^(?:\{\{\s*\w+\s*\}\}|(?:in|out)_\d+)$/,
    "`$&` is a key: it stands in the command, and here is what it stands for",
  ],
  [
    /^(?:<[^>]*>|\$\{?\w+\}?|%\w+%|\{\w+\}|[A-Z]+_[A-Z_]+)$/,
    "`$&` is a placeholder: write the address itself in its place",
  ],
  [/\$\{\w+\}|\{\{?\w+\}?\}|<[^<>]*>/, "`$&` in it is a placeholder: fill it in"],
]

const BYTES: readonly Hint[] = [
  [/^(?:data|blob):/i, "`$&` is no address that can be asked: $upload"],
  [/^[A-Za-z0-9+/=_-]{101,}$/, "these are bytes in base64: $upload"],
]

const SCHEMES: readonly Hint[] = [
  [
    /^(?!https?:|s3:)[a-z][a-z0-9+.-]*:/i,
    "nothing is asked by `$&` here: give an http or https URL$remedy",
  ],
]

/** The text to write in the place of one that is no usable address; else the addresses that are expected. */
export function describeAddress(text: string, field: AddressField): string {
  const { use } = field
  const expected = EXPECTED[use]
  if (text.trim() === "") return `it is empty: ${expected}`
  const upload = UPLOAD[use]
  const named = { upload, remedy: use === "webhook" ? "" : `, or ${upload}` }
  return (
    describeMarks(text, use) ??
    findHint(text, PLACEHOLDERS) ??
    describeId(text, use) ??
    describeOwn(text, field) ??
    findHint(text, BYTES, { named }) ??
    describeMisspelledScheme(text) ??
    describePath(text, use) ??
    findHint(text, SCHEMES, { named }) ??
    describeBlanks(text) ??
    expected
  )
}

/** An address with quotes, brackets or the name of a program around it. */
function describeMarks(text: string, use: AddressUse): string | null {
  const addresses = text.match(/\b(?:https?|svc_id|s3):\/\/[^\s"'“”‘’<>()`]+/gi) ?? []
  const [address] = addresses
  if (address === undefined) return null
  if (addresses.length > 1) return "expected one address, and there are several"
  if (use === "webhook" && !/^http/i.test(address)) return null
  const [before = "", behind = ""] = text.split(address)
  // A word behind a blank may be a part of the address.
  const isAlone = before + behind === "" || !/^[\s"'“”‘’<>()`]*$/.test(behind)
  return isAlone ? null : `write ${shown(address)} alone, with nothing around it`
}

/** The id of a File, with or without the scheme that ids have. */
function describeId(text: string, use: AddressUse): string | null {
  const id = findId(text)
  const isNamed = /^svc[-_]?id:/i.test(text)
  if (use !== "input" && (id !== null || isNamed)) return describeOwnAddress(text, use)
  if (id !== null) return `write \`svc_id://${id}\``
  const word = text.replace(/^[^:]*:\/*/, "")
  const isCut = /^[0-9a-f]{6,}-[0-9a-f-]+$/i.test(word)
  if (isCut) return describeNoId("File", word)
  if (!isNamed) return null
  return `expected the id of a File behind \`svc_id://\`, as in \`svc_id://${EXAMPLE_ID}\`: POST /v1/files answers it, and GET /v1/files lists them`
}

function findId(text: string): string | null {
  const dashed = text.replace(
    /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i,
    "$1-$2-$3-$4-$5",
  )
  const [, word = ""] =
    /^(?:\{|(?:svc(?:[-_]?id)?|file|file_?id|id|lathe|uuid)[:=]\/*)?([^{}/?#]*)/i.exec(dashed) ?? []
  return isId(word) ? word.toLowerCase() : null
}

/** An address of this service that names no File as an input does. */
function describeOwn(text: string, { use, origin }: AddressField): string | null {
  const url = URL.parse(text, /^\/(?:v1|public|media)\//.test(text) ? origin : undefined)
  if (!url || !/^https?:$/.test(url.protocol) || !isOwnUrl(url, origin)) return null
  if (use !== "input") return describeOwnAddress(text, use)
  const [, id = ""] = /^\/(?:v1\/files|public\/\d+)\/([^/]+)/.exec(url.pathname) ?? []
  return isId(id)
    ? `write \`svc_id://${id.toLowerCase()}\``
    : `${shown(url.pathname)} is of this service and no File: write \`svc_id://<id>\`; the record of a job names the ids of what it made`
}

function describeOwnAddress(text: string, use: keyof typeof OWN): string {
  // The query may hold a key.
  const [address = ""] = text.split(/[?#]/, 1)
  return `${shown(address)} is a URL of this service, ${OWN[use]}`
}

/** A URL of the web with a misspelled scheme, or with other marks behind the scheme. */
function describeMisspelledScheme(text: string): string | null {
  const [, scheme = "", rest = ""] = /^([a-z]{3,8})[:;.]{0,2}[/\\]{1,3}(.*)$/i.exec(text) ?? []
  const known = nearestName(scheme, ["https", "http"])
  if (known === null || !/^[\w-]+(?:\.\w|:\d|\/|$)/.test(rest)) return null
  const meant = `${known}://${rest.replaceAll("\\", "/")}`
  return meant === text ? null : `write ${shown(meant)}`
}

/** A file of the caller's machine, or the name of a host without its scheme. */
function describePath(text: string, use: AddressUse): string | null {
  const web = withScheme(text, use)
  if (web !== null) return `write ${shown(web)}, with its scheme`
  if (!isPath(text)) return null
  return use === "webhook"
    ? `${shown(text)} is no URL: ${UPLOAD.webhook}`
    : `${shown(text)} is a file of your own machine, which nothing here can read: ${UPLOAD[use]}`
}

/** Ends of names that are those of hosts, and of no files. */
const TOP_LEVEL = /\.(?:com|org|net|io|dev|app|co|tv|ai|me|edu|gov|info|site|cloud|example)$/i
const HOST_FIRST =
  /^(?:(?:[\w-]+\.)+[a-z][a-z0-9-]+|localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?=[/?#]|$)/i

/** The URL that a text without a scheme was likely meant as; null for the name or path of a file. */
function withScheme(text: string, use: AddressUse): string | null {
  const bare = text.replace(/^:?\/\//, "")
  const host = HOST_FIRST.exec(bare)?.[0]
  if (host === undefined) return null
  const isLocal = /^(?:localhost|\d)/i.test(host)
  const isSure = isLocal || /^www\./i.test(host) || bare !== text || use === "webhook"
  if (host === bare && !isSure && !TOP_LEVEL.test(host)) return null
  return `${isLocal ? "http" : "https"}://${bare}`
}

function isPath(text: string): boolean {
  if (/^(?:file:|@|~|\.{0,2}[/\\]|[a-z]:[/\\])/i.test(text)) return true
  return !/:|\w@\w/.test(text) && (/\.\w{1,5}$/.test(text) || /[/\\]/.test(text))
}

/** A URL of the web with blanks or backslashes in it. */
function describeBlanks(text: string): string | null {
  if (!/^https?:\/\/\S/i.test(text) || !/[ \\]/.test(text)) return null
  return `write ${shown(text.replaceAll(" ", "%20").replaceAll("\\", "/"))}: no blanks and no backslashes`
}
