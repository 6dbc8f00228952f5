import { hasKeyShape } from "../crypto/api-key.ts"
import type { AppContext } from "./request.ts"

const PLACES =
  "send one in the header `X-API-KEY`, as `Authorization: Bearer <key>`, or as the query parameter `key`"
const NO_KEY = `The request carries no API key: ${PLACES}.`
/** The same of keys that never were, were revoked, or ended: who asks learns nothing of them. */
export const NOT_VALID =
  "The API key is not valid here: it may have ended or been revoked; look at the keys of your account, or make a new one."

const OTHER_HEADERS = [
  "api-key",
  "apikey",
  "x-api-token",
  "x-auth-token",
  "x-access-token",
  "x-key",
  // Some servers make dashes of these, and some programs the other way round.
  "x_api_key",
  "api_key",
]
const OTHER_PARAMETERS = /^(?:x[-_])?(?:api[-_]?)?key$|^(?:(?:access|auth)[-_]?)?token$/i

/** What to do about a request that has no key where one counts. */
export function describeAbsent(c: AppContext): string {
  const scheme = /^\s*(\S+)/.exec(c.req.header("authorization") ?? "")?.[1]
  if (scheme !== undefined) {
    const what = hasKeyShape(scheme)
      ? "a key without `Bearer` before it"
      : `${/^(?:basic|token|key|api-?key|digest)$/i.test(scheme) ? `\`${scheme}\`, and ` : ""}no \`Bearer <key>\``
    return `The header Authorization holds ${what}: ${PLACES}.`
  }
  const header = OTHER_HEADERS.find((name) => c.req.header(name) !== undefined)
  if (header !== undefined) return `A key in the header \`${header}\` does not count: ${PLACES}.`
  const parameter = Object.keys(c.req.query()).find((name) => OTHER_PARAMETERS.test(name))
  if (parameter === undefined) return NO_KEY
  return `A key in the query parameter \`${parameter}\` does not count: ${PLACES}.`
}

/** What is wrong with a text that cannot be a key. */
export function describeMalformed(key: string): string {
  if (key.trim() === "") return `The API key of the request is empty: ${PLACES}.`
  const shape = "one is `lathe_` and 40 letters and digits"
  return `This is no API key of this service: ${shape}; ${slipOf(key)}.`
}

/** What a person likely did to a key. */
function slipOf(key: string): string {
  if (/^(?:\$.*|<.*>|\{.*\}|[A-Z_]*API[-_]?KEY.*)$/i.test(key)) {
    return "it is a placeholder: write a key itself in its place"
  }
  if (/^["'<]|["'>]$/.test(key)) return "leave out the quotes or brackets around it"
  if (/^bearer\s/i.test(key)) return "leave `Bearer` out of the header `X-API-KEY`"
  return "copy it anew and whole"
}
