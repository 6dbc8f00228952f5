import { hasApiKeyFormat } from "../../platform/crypto/api-key.ts"
import type { AppContext } from "../context.ts"

const KEY_LOCATIONS =
  "send one in the header `X-API-KEY`, as `Authorization: Bearer <key>`, or as the query parameter `key`"
const NO_KEY = `The request carries no API key: ${KEY_LOCATIONS}.`
/**
 * Error message for an API key that is unknown, revoked or expired. The message does not say which,
 * so that nobody learns from it whether a key exists.
 */
export const INVALID_KEY_MESSAGE =
  "The API key is unknown, expired or revoked: check the keys of your account, or create a new key."

const WRONG_KEY_HEADERS = [
  "api-key",
  "apikey",
  "x-api-token",
  "x-auth-token",
  "x-access-token",
  "x-key",
  // Names with `_` are included, because some programs and servers replace dashes in header names.
  "x_api_key",
  "api_key",
]
const WRONG_KEY_PARAMETERS = /^(?:x[-_])?(?:api[-_]?)?key$|^(?:(?:access|auth)[-_]?)?token$/i

/**
 * Returns the error message for a request without an API key. The message names a header or query
 * parameter that holds a key but is not read.
 */
export function describeMissingApiKey(c: AppContext): string {
  const scheme = /^\s*(\S+)/.exec(c.req.header("authorization") ?? "")?.[1]
  if (scheme !== undefined) {
    const content = hasApiKeyFormat(scheme)
      ? "a key without `Bearer` before it"
      : `${/^(?:basic|token|key|api-?key|digest)$/i.test(scheme) ? `\`${scheme}\`, and ` : ""}no \`Bearer <key>\``
    return `The header Authorization holds ${content}: ${KEY_LOCATIONS}.`
  }
  const header = WRONG_KEY_HEADERS.find((name) => c.req.header(name) !== undefined)
  if (header !== undefined)
    return `The service does not read keys from the header \`${header}\`: ${KEY_LOCATIONS}.`
  const parameter = Object.keys(c.req.query()).find((name) => WRONG_KEY_PARAMETERS.test(name))
  if (parameter === undefined) return NO_KEY
  return `The service does not read keys from the query parameter \`${parameter}\`: ${KEY_LOCATIONS}.`
}

/** Returns the error message for a text that does not have the format of an API key. */
export function describeMalformedApiKey(key: string): string {
  if (key.trim() === "") return `The API key of the request is empty: ${KEY_LOCATIONS}.`
  const shape = "a key is `lathe_` and 40 letters and digits"
  return `The API key is malformed: ${shape}; ${describeMistake(key)}.`
}

/** Returns advice for the most likely mistake in a malformed API key. */
function describeMistake(key: string): string {
  if (/^(?:\$.*|<.*>|\{.*\}|[A-Z_]*API[-_]?KEY.*)$/i.test(key)) {
    return "replace the placeholder by a key"
  }
  if (/^["'<]|["'>]$/.test(key)) return "remove the quotes or brackets around it"
  if (/^bearer\s/i.test(key)) return "remove `Bearer` from the header `X-API-KEY`"
  return "copy the whole key again"
}
