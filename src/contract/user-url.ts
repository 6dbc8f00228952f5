import ipaddr from "ipaddr.js"
import { PLATFORM_ADDRESSES } from "./platform-addresses.ts"

/** A user's URL that may be called, in the one spelling that is used from here on; or why not. */
export type UserUrl = { url: URL } | { error: string }

/** The error of what is no URL of the web. */
export const NOT_WEB = "expected an http or https URL"

/** How the error of a host that is not public begins. */
export const NOT_PUBLIC = "expected a public host"

/** Names that never are a public host. */
const PRIVATE_NAMES =
  /(?:^|\.)(?:localhost|localdomain|local|internal|home|lan|arpa|test|invalid|onion)$/

/** Every other port below belongs to a protocol that is not HTTP. */
const LOW_PORTS = [80, 443]
const HIGH_PORT_MIN = 1024

/** Those above that belong to another protocol: https://fetch.spec.whatwg.org/#port-blocking. */
const BLOCKED_PORTS = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10_080,
]

/**
 * Checks a URL that a user gave: http or https, no user info, a port of HTTP, a public host as far
 * as its name can tell. `allowed` are hosts (`host` or `host:port`) that the operator lets through
 * all the same, at any port. What a name resolves to is checked where the connection is made.
 */
export function checkUserUrl(text: string, allowed: readonly string[]): UserUrl {
  const url = readWebUrl(text)
  if (!url) return { error: NOT_WEB }
  if (url.username || url.password) return { error: "expected a URL without a user or password" }
  url.hash = ""
  if (isAllowedHost(url, allowed)) return { url }
  const port = portOf(url)
  if (!isWebPort(port)) {
    return {
      error: `expected a port of the web (80, 443, most from 1024 on), and ${port} is not one`,
    }
  }
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")
  const refused = { error: `${NOT_PUBLIC}, and "${host}" is not one` }
  if (ipaddr.isValid(host)) return isPublicAddress(host) ? { url } : refused
  if (!host.includes(".") || PRIVATE_NAMES.test(host)) return refused
  return { url }
}

/**
 * Reads an http or https URL; null for what is none, and for what parsers read in different ways:
 * some drop control characters, and some take a backslash for a slash.
 */
export function readWebUrl(text: string): URL | null {
  const url = /[\p{Cc}\s\\]/u.test(text) ? null : URL.parse(text)
  return url && /^https?:$/.test(url.protocol) ? url : null
}

/**
 * Whether an address is one of the public internet; mapped and translated ones are not, nor those of
 * platforms, nor those in the ranges (`address/bits`) of `ownRanges`.
 */
export function isPublicAddress(address: string, ownRanges: readonly string[] = []): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== "unicast") return false
  // Of IPv6, 2000::/3 alone is given out.
  if (parsed.kind() === "ipv6" && (parsed.toByteArray()[0] ?? 0) >> 5 !== 1) return false
  return ![...PLATFORM_ADDRESSES, ...ownRanges].some((range) => isIn(parsed, range))
}

/** Whether the operator lets this host through. */
export function isAllowedHost(url: URL, allowed: readonly string[]): boolean {
  const host = url.hostname.toLowerCase()
  return allowed.some((entry) => entry === host || entry === `${host}:${portOf(url)}`)
}

/** The hosts of a comma-separated setting. */
export function readHosts(setting: string): string[] {
  return setting
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "")
}

/** What is wrong with a setting of hosts, each `host` or `host:port`; null where nothing is. */
export function judgeHosts(setting: string): string | null {
  const wrong = readHosts(setting).find((entry) => {
    return !/^(?:[^\s/:;*@[\]]+|\[[\da-f:.]+\])(?::\d{1,5})?$/.test(entry)
  })
  if (wrong === undefined) return null
  const url = /^[a-z]+:\/\//.test(wrong) ? URL.parse(wrong) : null
  const meant =
    url && url.host !== "" ? `write \`${url.hostname}:${portOf(url)}\`` : "put a comma between two"
  return `expected \`host\` or \`host:port\`, and "${wrong}" is neither: ${meant}`
}

/** The port of a URL, also where it is its scheme's own. */
export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port)
  return url.protocol === "https:" ? 443 : 80
}

function isWebPort(port: number): boolean {
  return LOW_PORTS.includes(port) || (port >= HIGH_PORT_MIN && !BLOCKED_PORTS.includes(port))
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, range: string): boolean {
  const [first, bits] = ipaddr.parseCIDR(range)
  return first.kind() === address.kind() && address.match(first, bits)
}
