import ipaddr from "ipaddr.js"

const GROUPS_OF_NETWORK = 4

/**
 * Returns the client's IP address from the header `cf-connecting-ip`, which Cloudflare sets. For
 * IPv6, returns the /64 network, because a /64 usually belongs to one client. Returns null if the
 * header is missing or invalid.
 */
export function readClientNetwork(headers: { get(name: string): string | null }): string | null {
  const said = headers.get("cf-connecting-ip")
  if (said === null || !ipaddr.isValid(said)) return null
  const address = ipaddr.process(said)
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  const groups = address.parts.slice(0, GROUPS_OF_NETWORK)
  return `${groups.map((part) => part.toString(16)).join(":")}::/64`
}
