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
]
const OTHER_PARAMETERS = ["api_key", "apikey", "apiKey", "token", "access_token"]

/** What to do about a request that has no key where one counts. */
export function describeAbsent(c: AppContext): string {
  const scheme = /^\s*(\S+)/.exec(c.req.header("authorization") ?? "")?.[1]
  if (scheme !== undefined) {
    const what = hasKeyShape(scheme) ? "a key without `Bearer` before it" : "no `Bearer <key>`"
    return `The header Authorization holds ${what}: ${PLACES}.`
  }
  const header = OTHER_HEADERS.find((name) => c.req.header(name) !== undefined)
  if (header !== undefined) return `A key in the header \`${header}\` does not count: ${PLACES}.`
  const parameter = OTHER_PARAMETERS.find((name) => c.req.query(name) !== undefined)
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
  if (/^["'<]|["'>]$/.test(key)) return "leave out the quotes or brackets around it"
  if (/^bearer\s/i.test(key)) return "leave `Bearer` out of the header `X-API-KEY`"
  return "copy it anew and whole"
}
