import { NOT_WEB_URL_ERROR } from "../contract/urls/user-url.ts"
import { EXAMPLE_ID, isId } from "../platform/ids.ts"
import { isUrlOfDeployment } from "../domain/own-url.ts"
import { findHint, quoteForMessage } from "./hint-table.ts"
import type { Hint } from "./hint-table.ts"
import { describeMalformedId } from "./ids.ts"
import { findNearestName } from "./nearest-name.ts"

/** Use of an address: an input, a file to import, or a receiver of webhooks. */
export type AddressUse = "input" | "import" | "webhook"

/** Use of an address in a request field, and the origin of this service. */
type AddressField = { use: AddressUse; origin: string }

/** Remedies for a file that exists only on the caller's machine, by the use of the address. */
const UPLOAD: Record<AddressUse, string> = {
  input:
    "upload the file with POST /v1/files, and write `svc_id://<id>` with the id from the response",
  import: "send the file itself with POST /v1/files, as in `curl -F file=@film.mp4`",
  webhook: "give the http or https URL of a server that this service can reach",
}

/** Remedies for a URL of this service in a field that accepts only other URLs. */
const OWN: Record<Exclude<AddressUse, "input">, string> = {
  import:
    "which needs no import: use `svc_id://<id>` as the input, or download the file by its download_url",
  webhook: "but a webhook needs the URL of your own server",
}

/** Text for error messages that lists the forms of address that an input accepts. */
export const INPUT_ADDRESS_FORMS =
  "svc_id://<uuid>, svc_id://<job id>/<output>, a File's download_url, a public URL or s3://<bucket>/<key>"

/** Clauses of error messages that list the addresses which a field accepts. */
export const EXPECTED_ADDRESS_CLAUSES: Record<AddressUse, string> = {
  input: `expected ${INPUT_ADDRESS_FORMS}`,
  import: NOT_WEB_URL_ERROR,
  webhook: NOT_WEB_URL_ERROR,
}

const PLACEHOLDERS: readonly Hint[] = [
  [
    /^(?:\{\{\s*\w+\s*\}\}|(?:in|out)_\d+)$/,
    "`$&` is a key of the command: write the input that the key names",
  ],
  [
    /^(?:<[^>]*>|\$\{?\w+\}?|%\w+%|\{\w+\}|[A-Z]+_[A-Z_]+)$/,
    "`$&` is a placeholder: replace it by the address",
  ],
  [
    /\$\{\w+\}|\{\{?\w+\}?\}|<[^<>]*>/,
    "the address has the placeholder `$&`: replace it by its value",
  ],
]

const BYTES: readonly Hint[] = [
  [/^(?:data|blob):/i, "a `$&` address cannot be downloaded: $upload"],
  [/^[A-Za-z0-9+/=_-]{101,}$/, "the text is a file in base64: $upload"],
]

const SCHEMES: readonly Hint[] = [
  [
    /^(?!https?:|s3:)[a-z][a-z0-9+.-]*:/i,
    "the scheme `$&` is not supported: give an http or https URL$remedy",
  ],
]

/**
 * Returns the error message for an invalid address: a correction, or else the addresses that the
 * field accepts.
 */
export function describeAddressFault(text: string, field: AddressField): string {
  const { use } = field
  const expected = EXPECTED_ADDRESS_CLAUSES[use]
  if (text.trim() === "") return `it is empty: ${expected}`
  const upload = UPLOAD[use]
  const values = { upload, remedy: use === "webhook" ? "" : `, or ${upload}` }
  return (
    describeMarks(text, use) ??
    findHint(text, PLACEHOLDERS) ??
    describeId(text, use) ??
    describeOwn(text, field) ??
    findHint(text, BYTES, { values }) ??
    describeMisspelledScheme(text) ??
    describePath(text, use) ??
    findHint(text, SCHEMES, { values }) ??
    describeBlanks(text) ??
    expected
  )
}

/**
 * Returns the correction of a text that contains an address between quotes or brackets, or after
 * the name of a program.
 */
function describeMarks(text: string, use: AddressUse): string | null {
  const addresses = text.match(/\b(?:https?|svc_id|s3):\/\/[^\s"'“”‘’<>()`]+/gi) ?? []
  const [address] = addresses
  if (address === undefined) return null
  if (addresses.length > 1) return "expected one address, but the text has several"
  if (use === "webhook" && !/^http/i.test(address)) return null
  const [before = "", behind = ""] = text.split(address)
  // A text after the address may be a part of the address, because users write addresses with
  // spaces. Such a text gets no correction here.
  const isAlone = before + behind === "" || !/^[\s"'“”‘’<>()`]*$/.test(behind)
  return isAlone ? null : `write ${quoteForMessage(address)} alone, with nothing around it`
}

/** Returns the correction of a file id with a wrong scheme or without a scheme. */
function describeId(text: string, use: AddressUse): string | null {
  const id = findId(text)
  const isNamed = /^svc[-_]?id:/i.test(text)
  if (use !== "input" && (id !== null || isNamed)) return describeOwnAddress(text, use)
  if (id !== null) return `write \`svc_id://${id}\``
  const word = text.replace(/^[^:]*:\/*/, "")
  const isCut = /^[0-9a-f]{6,}-[0-9a-f-]+$/i.test(word)
  if (isCut) return describeMalformedId("File", word)
  if (!isNamed) return null
  return `expected the id of a File after \`svc_id://\`, as in \`svc_id://${EXAMPLE_ID}\`, or a job and its output, as in \`svc_id://<job id>/out_1\`: GET /v1/files lists all Files, and GET /v1/jobs all jobs`
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

/**
 * Returns the correction of a URL of this service in a field that does not accept the URL as it is.
 */
function describeOwn(text: string, { use, origin }: AddressField): string | null {
  const url = URL.parse(text, /^\/(?:v1|public|media)\//.test(text) ? origin : undefined)
  if (!url || !/^https?:$/.test(url.protocol) || !isUrlOfDeployment(url, origin)) return null
  if (use !== "input") return describeOwnAddress(text, use)
  const [, id = ""] = /^\/(?:v1\/files|public\/\d+)\/([^/]+)/.exec(url.pathname) ?? []
  return isId(id)
    ? `write \`svc_id://${id.toLowerCase()}\``
    : `${quoteForMessage(url.pathname)} is a path of this service, but not of a File: write \`svc_id://<id>\` with the id of a File, or \`svc_id://<job id>/<output>\``
}

function describeOwnAddress(text: string, use: keyof typeof OWN): string {
  // Omits the query, which may contain an API key.
  const [address = ""] = text.split(/[?#]/, 1)
  return `${quoteForMessage(address)} is a URL of this service, ${OWN[use]}`
}

/** Returns the correction of a wrong scheme or its punctuation, such as `htp://` or `http:/`. */
function describeMisspelledScheme(text: string): string | null {
  const [, scheme = "", rest = ""] = /^([a-z]{3,8})[:;.]{0,2}[/\\]{1,3}(.*)$/i.exec(text) ?? []
  const nearest = findNearestName(scheme, ["https", "http"])
  if (nearest === null || !/^[\w-]+(?:\.\w|:\d|\/|$)/.test(rest)) return null
  const correction = `${nearest}://${rest.replaceAll("\\", "/")}`
  return correction === text ? null : `write ${quoteForMessage(correction)}`
}

/**
 * Returns the explanation for a path on the caller's machine, or the correction of a host without a
 * scheme.
 */
function describePath(text: string, use: AddressUse): string | null {
  const web = withScheme(text, use)
  if (web !== null) return `write ${quoteForMessage(web)}, with its scheme`
  if (!isPath(text)) return null
  return use === "webhook"
    ? `${quoteForMessage(text)} is not a URL: ${UPLOAD.webhook}`
    : `${quoteForMessage(text)} is a file on your own machine, which this service cannot read: ${UPLOAD[use]}`
}

/** Top-level domains that are not also file extensions. */
const TOP_LEVEL = /\.(?:com|org|net|io|dev|app|co|tv|ai|me|edu|gov|info|site|cloud|example)$/i
const HOST_FIRST =
  /^(?:(?:[\w-]+\.)+[a-z][a-z0-9-]+|localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?=[/?#]|$)/i

/** Returns the likely URL of a text without a scheme; null for a file's name or path. */
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

/** Returns the correction of a web URL with spaces or backslashes. */
function describeBlanks(text: string): string | null {
  if (!/^https?:\/\/\S/i.test(text) || !/[ \\]/.test(text)) return null
  return `write ${quoteForMessage(text.replaceAll(" ", "%20").replaceAll("\\", "/"))}: a URL has no spaces and no backslashes`
}
