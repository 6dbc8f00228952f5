import ipaddr from "ipaddr.js"

/** A user's URL that may be called, in the one spelling that is used from here on; or why not. */
export type UserUrl = { url: URL } | { error: string }

/** Names that never are a public host. */
const PRIVATE_NAMES = /(?:^|\.)(?:localhost|local|internal|home|lan|arpa|test|invalid|onion)$/

/**
 * Checks a URL that a user gave: http or https, no user info, a public host as far as its name can
 * tell. `allowed` are hosts (`host` or `host:port`) that the operator lets through all the same.
 * What a name resolves to is checked where the connection is made.
 */
export function checkUserUrl(text: string, allowed: readonly string[]): UserUrl {
  // Control characters are dropped by URL parsers, each in its own way.
  const url = /[\p{Cc}\s\\]/u.test(text) ? null : URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return { error: "expected an http or https URL" }
  if (url.username || url.password) return { error: "expected a URL without a user or password" }
  url.hash = ""
  if (isAllowedHost(url, allowed)) return { url }
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")
  const refused = { error: `expected a public host, and "${host}" is not one` }
  if (ipaddr.isValid(host)) return isPublicAddress(host) ? { url } : refused
  if (!host.includes(".") || PRIVATE_NAMES.test(host)) return refused
  return { url }
}

/** Whether an address is one of the public internet; mapped and translated ones are not. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== "unicast") return false
  // Of IPv6, 2000::/3 alone is given out.
  return parsed.kind() === "ipv4" || (parsed.toByteArray()[0] ?? 0) >> 5 === 1
}

/** Whether the operator lets this host through. */
export function isAllowedHost(url: URL, allowed: readonly string[]): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80")
  const host = url.hostname.toLowerCase()
  return allowed.some((entry) => entry === host || entry === `${host}:${port}`)
}

/** The hosts of a comma-separated setting. */
export function readHosts(setting: string): string[] {
  return setting
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "")
}
