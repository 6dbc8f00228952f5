import { readFileSync } from "node:fs"
import { networkInterfaces } from "node:os"

/** A leaf of the kernel's table: an address, and below it the routes that begin there. */
const IPV4_LEAF = /\|-- (\S+)((?:\n +\/\d+ .*)+)/g
const IPV4_LOCAL = /\/(\d+) host LOCAL/g

/** A route: address and bits in hexadecimal, other fields, flags, interface. */
const IPV6_ROUTE = /^([0-9a-f]{32}) ([0-9a-f]{2}) .* ([0-9a-f]{8}) +\S+$/gm
const IPV6_LOCAL_FLAG = 0x8000_0000

/**
 * The addresses that this machine has at this moment, as ranges (`address/bits`). On Linux, the
 * routes that end here count too: Node leaves out interfaces that have no link, and these answer.
 */
export function readOwnAddresses(): string[] {
  const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const addresses = interfaces.map(({ address, family }) => {
    return `${address}/${family === "IPv4" ? 32 : 128}`
  })
  return [...addresses, ...readLocalIpv4(), ...readLocalIpv6()]
}

function readLocalIpv4(): string[] {
  return [...textOf("/proc/net/fib_trie").matchAll(IPV4_LEAF)].flatMap(([, address, routes = ""]) =>
    [...routes.matchAll(IPV4_LOCAL)].map(([, bits]) => `${address}/${bits}`),
  )
}

function readLocalIpv6(): string[] {
  return [...textOf("/proc/net/ipv6_route").matchAll(IPV6_ROUTE)].flatMap(
    ([, address = "", bits = "", flags = ""]) => {
      // A bitwise operator would give a negative number.
      if (Number.parseInt(flags, 16) < IPV6_LOCAL_FLAG) return []
      return `${(address.match(/.{4}/g) ?? []).join(":")}/${Number.parseInt(bits, 16)}`
    },
  )
}

/** The text of a file; none on a system that has no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
