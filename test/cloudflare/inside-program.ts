import dns from "node:dns"
import { syncBuiltinESMExports } from "node:module"
import { Server, Socket } from "node:net"

// Loaded before the runner's own program, this has its process see what a container sees:
// `worker.internal` leads to the object of the instance, the port of the image is a port of the
// instance's own on loopback, and names have the addresses that RIG_NAMES lists.

const { RIG_PORT: port = "0", RIG_WAY_OUT: wayOut = "0", RIG_NAMES: names = "{}" } = process.env
const known: Record<string, { address: string; family: number }[]> = JSON.parse(names)

wrap(Socket.prototype, "connect", ([first, ...rest]) => {
  const [options, ...others]: unknown[] = Array.isArray(first) ? first : [first]
  if (!isInternal(options)) return [first, ...rest]
  const changed = { ...options, host: "127.0.0.1", port: Number(wayOut), lookup: undefined }
  return Array.isArray(first)
    ? [Object.assign([changed, ...others], symbolsOf(first))]
    : [changed, ...rest]
})

wrap(Server.prototype, "listen", ([first, host, ...rest]) => {
  return host === "0.0.0.0" ? [Number(port), "127.0.0.1", ...rest] : [first, host, ...rest]
})

const { lookup } = dns.promises
Object.assign(dns.promises, {
  lookup: async (host: string, options: object) => known[host] ?? (await lookup(host, options)),
})
syncBuiltinESMExports()

function isInternal(options: unknown): options is object {
  return (
    typeof options === "object" &&
    options !== null &&
    Reflect.get(options, "host") === "worker.internal"
  )
}

/** Node marks arguments that are in order already by a symbol on their list. */
function symbolsOf(list: unknown[]): object {
  return Object.fromEntries(
    Object.getOwnPropertySymbols(list).map((symbol) => [symbol, Reflect.get(list, symbol)]),
  )
}

function wrap(owner: object, name: string, change: (given: unknown[]) => unknown[]): void {
  const method: unknown = Reflect.get(owner, name)
  if (typeof method !== "function") throw new Error(`there is no ${name}`)
  Object.defineProperty(owner, name, {
    value(this: unknown, ...given: unknown[]): unknown {
      return Reflect.apply(method, this, change(given))
    },
  })
}
