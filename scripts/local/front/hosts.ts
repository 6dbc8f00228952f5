/** Where the front listens, and the address that callers know, where it is another one. */
export type FrontAddress = { host: string; port: number; publicOrigin?: string | undefined }

/** A host as `Host` and an absolute request target name it; `port` is null where none stands there. */
export type NamedHost = { name: string; port: number | null }

/** Reads `name`, `name:port`, an address, or one in brackets; null where it is none of those. */
export function readHost(text: string): NamedHost | null {
  // What else an URL may have: a user, a path, a query.
  if (!/^[^\s/\\?#@]+$/.test(text)) return null
  const url = URL.parse(`http://${text}`)
  if (!url) return null
  const port = /:(\d+)$/.exec(text)?.[1]
  // A name may end with the dot of the root.
  return { name: url.hostname.replace(/\.$/, ""), port: port === undefined ? null : Number(port) }
}

/** Whether a host is this service for a connection that arrived at `localAddress`. */
export function isOwnHost(host: NamedHost, address: FrontAddress, localAddress: string): boolean {
  const own = ["localhost", "127.0.0.1", "[::1]", address.host.toLowerCase(), bare(localAddress)]
  if (own.includes(host.name) && isPort(host, address.port)) return true
  if (address.publicOrigin === undefined) return false
  const { hostname, port, protocol } = new URL(address.publicOrigin)
  return host.name === hostname && isPort(host, Number(port || (protocol === "https:" ? 443 : 80)))
}

/** The host as a URL has it. */
export function formatHost({ name, port }: NamedHost): string {
  return port === null ? name : `${name}:${port}`
}

function isPort(host: NamedHost, port: number): boolean {
  return host.port === null || host.port === port
}

/** An address as `readHost` spells it; one of IPv4 that came over an IPv6 socket as its own. */
function bare(address: string): string {
  const v4 = address.replace(/^::ffff:(?=\d+\.)/, "")
  return v4.includes(":") ? `[${v4}]` : v4
}
