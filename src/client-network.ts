import ipaddr from "ipaddr.js"

const GROUPS_OF_NETWORK = 4

/**
 * The address that a request comes from, as the platform says it, and of IPv6 the network of 64 bits
 * that one caller has as a whole; null where nobody says it.
 */
export function clientNetworkOf(headers: { get(name: string): string | null }): string | null {
  const said = headers.get("cf-connecting-ip")
  if (said === null || !ipaddr.isValid(said)) return null
  const address = ipaddr.process(said)
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  const groups = address.parts.slice(0, GROUPS_OF_NETWORK)
  return `${groups.map((part) => part.toString(16)).join(":")}::/64`
}
