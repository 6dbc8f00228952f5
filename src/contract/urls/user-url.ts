import ipaddr from "ipaddr.js"

/**
 * Public addresses that cloud platforms reserve for their own services. These services trust every
 * request from a machine of the platform. Private ranges (169.254.0.0/16, 100.64.0.0/10,
 * 192.0.0.0/24, fc00::/7) are refused anyway and not listed here.
 */
export const CLOUD_PLATFORM_ADDRESSES: readonly string[] = [
  // Azure: DNS, DHCP, and the service that provides the configuration and certificates of a
  // machine. https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
  "168.63.129.16/32",
  // IBM Cloud: infrastructure services and service endpoints in the private network.
  // https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc
  "161.26.0.0/16",
  "166.8.0.0/14",
  // Google Cloud: restricted.googleapis.com and private.googleapis.com.
  // https://cloud.google.com/vpc/docs/configure-private-google-access-hybrid
  "199.36.153.4/30",
  "199.36.153.8/30",
  "2600:2d00:2:1000::/56",
  "2600:2d00:2:2000::/56",
  // Equinix Metal: metadata.packet.net and metadata.platformequinix.com.
  // https://deploy.equinix.com/developers/docs/metal/server-metadata/metadata/
  "192.80.8.124/32",
  // Tencent Cloud: name servers of private networks.
  // https://cloud.tencent.com/document/product/1689/90577
  "183.60.82.98/32",
  "183.60.83.19/32",
]

/** Normalized URL that the service may request, or an error message. */
export type UserUrlResult = { url: URL } | { error: string }

/** Error message for a text that is not an http or https URL. */
export const NOT_WEB_URL_ERROR = "expected an http or https URL"

/** Beginning of the error message for a host that is not public. */
export const NOT_PUBLIC_HOST_ERROR = "expected a public host"

/** Host names that are never public. */
const PRIVATE_NAMES =
  /(?:^|\.)(?:localhost|localdomain|local|internal|home|lan|arpa|test|invalid|onion)$/

/**
 * Web ports below `HIGH_PORT_MIN`. All other ports below `HIGH_PORT_MIN` belong to other protocols
 * and are refused.
 */
const LOW_PORTS = [80, 443]
const HIGH_PORT_MIN = 1024

/**
 * Ports above `HIGH_PORT_MIN` that browsers block, because they belong to other protocols:
 * https://fetch.spec.whatwg.org/#port-blocking.
 */
const BLOCKED_PORTS = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10_080,
]

/**
 * Checks a URL that a user sent. The URL must use http or https, have no user info, use a web port,
 * and name a public host. `allowed` lists hosts (`host` or `host:port`) that the operator permits
 * even if they are private or use another port. The check uses only the host name; the addresses of
 * the host are checked when the connection is opened.
 */
export function parseUserUrl(text: string, allowed: readonly string[]): UserUrlResult {
  const url = parseWebUrl(text)
  if (!url) return { error: NOT_WEB_URL_ERROR }
  if (url.username || url.password) return { error: "expected a URL without a user or password" }
  url.hash = ""
  if (isAllowedHost(url, allowed)) return { url }
  const port = getUrlPort(url)
  if (!isWebPort(port)) {
    return {
      error: `expected port 80, 443 or most ports from 1024 up; port ${port} is not allowed`,
    }
  }
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")
  const notPublic = { error: `${NOT_PUBLIC_HOST_ERROR}; "${host}" is not public` }
  if (ipaddr.isValid(host)) return isPublicAddress(host) ? { url } : notPublic
  if (!host.includes(".") || PRIVATE_NAMES.test(host)) return notPublic
  return { url }
}

/**
 * Parses an http or https URL. Returns null for any other text. Also returns null for a URL with
 * control characters or backslashes, which URL parsers interpret differently.
 */
export function parseWebUrl(text: string): URL | null {
  const url = /[\p{Cc}\s\\]/u.test(text) ? null : URL.parse(text)
  return url && /^https?:$/.test(url.protocol) ? url : null
}

/**
 * Reports whether an address belongs to the public internet. Returns false for IPv4-mapped and
 * translated addresses, for addresses of cloud platforms, and for `ownRanges`, the networks of this
 * machine (`address/bits`).
 */
export function isPublicAddress(address: string, ownRanges: readonly string[] = []): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== "unicast") return false
  // Refuses IPv6 addresses outside 2000::/3, the only range that is assigned to the public
  // internet.
  if (parsed.kind() === "ipv6" && (parsed.toByteArray()[0] ?? 0) >> 5 !== 1) return false
  return ![...CLOUD_PLATFORM_ADDRESSES, ...ownRanges].some((range) => isIn(parsed, range))
}

/** Reports whether the operator permits the host of a URL. */
export function isAllowedHost(url: URL, allowed: readonly string[]): boolean {
  const host = url.hostname.toLowerCase()
  return allowed.some((entry) => entry === host || entry === `${host}:${getUrlPort(url)}`)
}

/** Parses a setting with a comma-separated list of hosts (`host` or `host:port`). */
export function parseHostList(setting: string): string[] {
  return setting
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "")
}

/**
 * Returns the reason why a setting with a list of hosts (`host` or `host:port`) is invalid; null
 * for a valid list.
 */
export function describeInvalidHostList(setting: string): string | null {
  const invalid = parseHostList(setting).find((entry) => {
    return !/^(?:[^\s/:;*@[\]]+|\[[\da-f:.]+\])(?::\d{1,5})?$/.test(entry)
  })
  if (invalid === undefined) return null
  const url = /^[a-z]+:\/\//.test(invalid) ? URL.parse(invalid) : null
  const remedy =
    url && url.host !== ""
      ? `write \`${url.hostname}:${getUrlPort(url)}\``
      : "separate hosts by commas"
  return `expected \`host\` or \`host:port\`, but "${invalid}" is neither: ${remedy}`
}

/** Returns the port of a URL: the explicit port or the default of the scheme. */
export function getUrlPort(url: URL): number {
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
