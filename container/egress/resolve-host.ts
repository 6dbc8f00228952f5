import { Resolver, lookup } from "node:dns/promises"
import { isIP } from "node:net"

export type HostAddress = { address: string; family: 4 | 6 }

const DNS_TIMEOUT_MS = 2000
const DNS_TRIES = 2

/**
 * Function that returns all addresses of a host, or an empty list for an unknown host. IPv4
 * addresses come first, since containers have no IPv6 route. `isAllowed` means that the operator
 * allows the host although its address may be private. Throws if no name server answers.
 */
export type HostResolver = (host: string, isAllowed: boolean) => Promise<HostAddress[]>

/**
 * Resolves a host by direct queries to the name servers, because getaddrinfo runs on the few
 * threads of Node's thread pool, which slow lookups could block. Uses getaddrinfo only for hosts
 * that the operator allows, since /etc/hosts may define these hosts.
 */
export async function resolveHost(host: string, isAllowed: boolean): Promise<HostAddress[]> {
  const family = isIP(host)
  if (family !== 0) return [toAddress(host, family)]
  if (isAllowed) {
    const found = await lookup(host, { all: true, order: "ipv4first" })
    return found.map(({ address, family }) => toAddress(address, family))
  }
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  if (v4.status === "rejected" && v6.status === "rejected" && !isAbsence(v4.reason)) throw v4.reason
  return [
    ...(v4.status === "fulfilled" ? v4.value.map((address) => toAddress(address, 4)) : []),
    ...(v6.status === "fulfilled" ? v6.value.map((address) => toAddress(address, 6)) : []),
  ]
}

/**
 * Reports whether a DNS error means that the host has no address record. Other DNS errors mean that
 * no name server answered.
 */
function isAbsence(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    ["ENODATA", "ENOTFOUND"].includes(String(error.code))
  )
}

function toAddress(address: string, family: number): HostAddress {
  return { address, family: family === 6 ? 6 : 4 }
}
