import { once } from "node:events"
import { connect as connectSocket } from "node:net"
import type { LookupFunction, Socket, TcpNetConnectOpts } from "node:net"
import type { FailureCode } from "../../src/contract/failure.ts"
import {
  checkUserUrl,
  isAllowedHost,
  isPublicAddress,
  portOf,
} from "../../src/contract/user-url.ts"
import { askProxy } from "./ask-proxy.ts"
import { explainFailure } from "./explain-failure.ts"
import { readOwnAddresses } from "./own-addresses.ts"
import { resolveHost } from "./resolve-host.ts"
import type { Address, Resolve } from "./resolve-host.ts"

const LOOKUP_MS_MAX = 10_000
const CONNECT_MS_MAX = 10_000
/** How long one address of several may take, before the next is tried. */
const ADDRESS_MS_MAX = 2500
/** A proxy may know no way to some of a host's addresses, such as those of IPv6. */
const PROXY_TRIES = 3

/**
 * Why nothing came from a URL. `reason` is a clause and `message` the sentence of it; both may be
 * shown to the owner of the URL, and name no address but what the URL itself names.
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
 * Connects to the host of a URL, by TCP alone; throws an EgressError, or the reason of the signal,
 * which counts until the connection is there. The socket has a listener for errors: whoever uses it
 * learns its end by `close`.
 */
export type Dial = (url: URL, signal: AbortSignal) => Promise<Socket>

export type DialOptions = {
  /** Hosts (`host` or `host:port`) that may be reached though they are not public. */
  allowedHosts: readonly string[]
  /** The operator's HTTP proxy, wherever it is; it is asked for checked addresses only. */
  upstream: URL | null
  resolve?: Resolve
  /** The addresses of this machine, as ranges; read again for every connection. */
  readOwn?: () => readonly string[]
}

/**
 * Makes the one way out: the URL is checked, its host resolved and refused where any of its addresses
 * is not public, or is this machine's own, and it is not in `allowedHosts`; the connection goes to an
 * address that was checked.
 */
export function makeDial(options: DialOptions): Dial {
  return async (url, signal) => {
    const checked = checkUserUrl(url.href, options.allowedHosts)
    if ("error" in checked) throw new EgressError("url_not_allowed", checked.error)
    try {
      const addresses = await findAddresses(checked.url, options, signal)
      const port = portOf(checked.url)
      const { upstream } = options
      if (upstream) return await connectThrough(upstream, addresses, port, signal)
      return await connect(pinnedTo(addresses, port), signal)
    } catch (error) {
      signal.throwIfAborted()
      throw toEgressError(error, `"${hostOf(checked.url)}"`)
    }
  }
}

/** The host of a URL as the system takes it: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "")
}

/** What a failed connection comes to, where `who` is the other side; an EgressError stays as it is. */
export function toEgressError(error: unknown, who: string): EgressError {
  if (error instanceof EgressError) return error
  return new EgressError(...explainFailure(error, who), { cause: error })
}

async function findAddresses(
  url: URL,
  { allowedHosts, resolve = resolveHost, readOwn = readOwnAddresses }: DialOptions,
  signal: AbortSignal,
): Promise<Address[]> {
  const host = hostOf(url)
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

/** Has the operator's proxy connect to one of these addresses. */
async function connectThrough(
  upstream: URL,
  addresses: readonly Address[],
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS_MAX)])
  const answers: number[] = []
  try {
    for (const { address, family } of addresses.slice(0, PROXY_TRIES)) {
      const socket = await connect({ host: hostOf(upstream), port: portOf(upstream) }, limit)
      const target = `${family === 6 ? `[${address}]` : address}:${port}`
      const status = await askProxy(socket, upstream, target, limit)
      if (status === 200) return socket
      socket.destroy()
      answers.push(status)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw toEgressError(error, "the proxy of this service")
  }
  const said = answers.join(", ")
  throw new EgressError("connection_failed", `the proxy of this service refused it (${said})`)
}

/** Connects within the time limit; the socket is gone where it did not. */
async function connect(options: TcpNetConnectOpts, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS_MAX)])
  const socket = connectSocket({ ...options, noDelay: true })
  // An error may come before whoever asked for the socket listens to it.
  socket.on("error", () => undefined)
  try {
    await once(socket, "connect", { signal: limit })
    return socket
  } catch (error) {
    socket.destroy()
    throw limit.aborted ? limit.reason : error
  }
}

/** Node skips the look-up of a host that is an address: that one names the checked address itself. */
function pinnedTo(addresses: readonly Address[], port: number): TcpNetConnectOpts {
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

function answerWith(addresses: readonly Address[]): LookupFunction {
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
