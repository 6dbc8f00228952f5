import { once } from "node:events"
import { connect as connectSocket } from "node:net"
import type { LookupFunction, Socket, TcpNetConnectOpts } from "node:net"
import type { FailureCode } from "../../src/contract/failure.ts"
import {
  parseUserUrl,
  isAllowedHost,
  isPublicAddress,
  getUrlPort,
} from "../../src/contract/urls/user-url.ts"
import { explainConnectionFailure } from "./explain-connection-failure.ts"
import { resolveHost } from "./resolve-host.ts"
import type { HostAddress, HostResolver } from "./resolve-host.ts"
import { request } from "node:http"
import type { IncomingMessage } from "node:http"
import { readFileSync } from "node:fs"
import { networkInterfaces } from "node:os"

const LOOKUP_MS_MAX = 10_000
const CONNECT_MS_MAX = 10_000
/**
 * Timeout for a connection to one address of a host with several addresses, in milliseconds. After
 * the timeout, the next address is tried.
 */
const ADDRESS_MS_MAX = 2500
/**
 * Maximum number of addresses of a host to try through the operator's proxy. The proxy may have no
 * route to some addresses, such as IPv6 addresses.
 */
const PROXY_TRIES = 3

/**
 * Reason why a request to a URL failed. `reason` is a clause, and `message` is a sentence with that
 * clause. Both texts may be shown to callers, because neither reveals the IP addresses to which a
 * host name resolved.
 */
export class EgressError extends Error {
  readonly code: FailureCode
  readonly reason: string

  constructor(code: FailureCode, reason: string, options?: ErrorOptions) {
    super(`${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`, options)
    this.code = code
    this.reason = reason
  }
}

/**
 * Function that opens a TCP connection, without TLS, to the host of a URL. Throws an EgressError,
 * or the abort reason of the signal. The signal applies only until the connection is open. The
 * returned socket already has an error listener, so a broken connection only emits `close`.
 */
export type DialFunction = (url: URL, signal: AbortSignal) => Promise<Socket>

export type DialOptions = {
  /**
   * Hosts (`host` or `host:port`) to which connections are allowed although their addresses are not
   * public.
   */
  allowedHosts: readonly string[]
  /**
   * HTTP proxy of the operator, whose own address may be private. Requests to the proxy name the IP
   * address that was checked, not the host name.
   */
  upstream: URL | null
  resolve?: HostResolver
  /**
   * Returns the addresses of this machine as CIDR ranges. The function is called for every
   * connection.
   */
  readOwn?: () => readonly string[]
}

/**
 * Returns the function that opens every connection to the web. The returned function checks the
 * URL, resolves the host and connects only to addresses that were checked. Hosts with a private
 * address or an address of this machine are refused, unless the host is in `allowedHosts`.
 */
export function createDialFunction(options: DialOptions): DialFunction {
  return async (url, signal) => {
    const checked = parseUserUrl(url.href, options.allowedHosts)
    if ("error" in checked) throw new EgressError("url_not_allowed", checked.error)
    try {
      const addresses = await findAddresses(checked.url, options, signal)
      const port = getUrlPort(checked.url)
      const { upstream } = options
      if (upstream) return await connectThrough(upstream, addresses, port, signal)
      return await connect(connectOptionsFor(addresses, port), signal)
    } catch (error) {
      signal.throwIfAborted()
      throw toEgressError(error, `"${getHostWithoutBrackets(checked.url)}"`)
    }
  }
}

/** Returns the host of a URL. Removes the brackets of an IPv6 address. */
export function getHostWithoutBrackets(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "")
}

/**
 * Converts the error of a failed connection to an EgressError, whose message names the remote host
 * by the text `who`. Returns an EgressError unchanged.
 */
export function toEgressError(error: unknown, who: string): EgressError {
  if (error instanceof EgressError) return error
  return new EgressError(...explainConnectionFailure(error, who), { cause: error })
}

async function findAddresses(
  url: URL,
  { allowedHosts, resolve = resolveHost, readOwn = readOwnAddresses }: DialOptions,
  signal: AbortSignal,
): Promise<HostAddress[]> {
  const host = getHostWithoutBrackets(url)
  const isAllowed = isAllowedHost(url, allowedHosts)
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LOOKUP_MS_MAX)])
  const addresses = await Promise.race([resolve(host, isAllowed), rejectOnAbort(limit)])
  if (addresses.length === 0) {
    throw new EgressError("connection_failed", `the host "${host}" has no address`)
  }
  if (isAllowed) return addresses
  const own = readOwn()
  if (addresses.every(({ address }) => isPublicAddress(address, own))) return addresses
  throw new EgressError("url_not_allowed", `the host "${host}" resolves to a private address`)
}

/** Opens a connection to one of a host's addresses through the operator's proxy. */
async function connectThrough(
  upstream: URL,
  addresses: readonly HostAddress[],
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS_MAX)])
  const answers: number[] = []
  try {
    for (const { address, family } of addresses.slice(0, PROXY_TRIES)) {
      const socket = await connect(
        { host: getHostWithoutBrackets(upstream), port: getUrlPort(upstream) },
        limit,
      )
      const target = `${family === 6 ? `[${address}]` : address}:${port}`
      const status = await requestTunnel(socket, upstream, target, limit)
      if (status === 200) return socket
      socket.destroy()
      answers.push(status)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw toEgressError(error, "the proxy of this service")
  }
  const statuses = answers.join(", ")
  throw new EgressError("connection_failed", `the proxy of this service refused it (${statuses})`)
}

/** Opens a TCP connection within a timeout; destroys the socket on failure. */
async function connect(options: TcpNetConnectOpts, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS_MAX)])
  const socket = connectSocket({ ...options, noDelay: true })
  // Adds an error listener, since an error may occur before the caller adds its own listener.
  socket.on("error", () => undefined)
  try {
    await once(socket, "connect", { signal: limit })
    return socket
  } catch (error) {
    socket.destroy()
    throw limit.aborted ? limit.reason : error
  }
}

/**
 * Returns the options with which Node connects only to the given addresses, without a DNS lookup. A
 * single address is passed as the host, since Node does not look up a host that is an address.
 */
function connectOptionsFor(addresses: readonly HostAddress[], port: number): TcpNetConnectOpts {
  const [first] = addresses
  if (addresses.length === 1 && first) return { host: first.address, port }
  return {
    host: "checked.invalid",
    port,
    lookup: answerWith(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_MS_MAX,
  }
}

function answerWith(addresses: readonly HostAddress[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = addresses
    if (options.all) done(null, [...addresses])
    else done(null, first?.address ?? "", first?.family)
  }
}

async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort")
  throw signal.reason
}

/**
 * Sends a CONNECT for `target` (`address:port`) to an HTTP proxy at the other end of a socket, and
 * returns the status of its response. After a 200, the socket is a tunnel to the target.
 */
async function requestTunnel(
  socket: Socket,
  proxy: URL,
  target: string,
  signal: AbortSignal,
): Promise<number> {
  const outgoing = request({
    method: "CONNECT",
    path: target,
    headers: { host: target, ...credentialsOf(proxy) },
    createConnection: () => socket,
    signal,
  })
  const answer = await new Promise<{ response: IncomingMessage; head: Buffer }>((done, failed) => {
    outgoing
      .once("connect", (response, _socket, head) => done({ response, head }))
      .once("error", failed)
    outgoing.end()
  })
  if (answer.head.length > 0) socket.unshift(answer.head)
  return answer.response.statusCode ?? 0
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` }
}

/**
 * Matches an entry of `/proc/net/fib_trie`: an IPv4 address, followed by the routes for the
 * address.
 */
const IPV4_LEAF = /\|-- (\S+)((?:\n +\/\d+ .*)+)/g
const IPV4_LOCAL = /\/(\d+) host LOCAL/g

/**
 * Matches a line of `/proc/net/ipv6_route`: the address and the prefix length in hexadecimal, other
 * fields, the flags, and the interface.
 */
const IPV6_ROUTE = /^([0-9a-f]{32}) ([0-9a-f]{2}) .* ([0-9a-f]{8}) +\S+$/gm
const IPV6_LOCAL_FLAG = 0x8000_0000

/**
 * Returns the current addresses of this machine as CIDR ranges. On Linux, also reads the local
 * routes, because Node omits interfaces that are down, although their addresses still accept
 * connections.
 */
function readOwnAddresses(): string[] {
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
      // Compares the flags as numbers, since a bitwise operator would return a negative number if
      // the highest of the 32 bits is set.
      if (Number.parseInt(flags, 16) < IPV6_LOCAL_FLAG) return []
      return `${(address.match(/.{4}/g) ?? []).join(":")}/${Number.parseInt(bits, 16)}`
    },
  )
}

/** Returns the text of a file, or an empty text if the system does not have the file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
