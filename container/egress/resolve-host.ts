import { Resolver, lookup } from "node:dns/promises"
import { isIP } from "node:net"

export type Address = { address: string; family: 4 | 6 }

const DNS_TIMEOUT_MS = 2000
const DNS_TRIES = 2

/** Every address of a host, those of IPv4 first, since containers have no way to IPv6; none where there is no such host. Throws where nobody knows. */
export type Resolve = (host: string, isAllowed: boolean) => Promise<Address[]>

/**
 * Queries the name servers directly: getaddrinfo runs on a few shared threads, which slow names
 * could occupy. Hosts that the operator allows are looked up by the system, since only it may know
 * them (/etc/hosts).
 */
export async function resolveHost(host: string, isAllowed: boolean): Promise<Address[]> {
  const family = isIP(host)
  if (family !== 0) return [toAddress(host, family)]
  if (isAllowed) {
    const found = await lookup(host, { all: true, order: "ipv4first" })
    return found.map(({ address, family: known }) => toAddress(address, known))
  }
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  if (v4.status === "rejected" && v6.status === "rejected" && !isAbsence(v4.reason)) throw v4.reason
  return [
    ...(v4.status === "fulfilled" ? v4.value.map((address) => toAddress(address, 4)) : []),
    ...(v6.status === "fulfilled" ? v6.value.map((address) => toAddress(address, 6)) : []),
  ]
}

/** Whether a name server said that there is none, rather than nothing. */
function isAbsence(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    ["ENODATA", "ENOTFOUND"].includes(String(error.code))
  )
}

function toAddress(address: string, family: number): Address {
  return { address, family: family === 6 ? 6 : 4 }
}
